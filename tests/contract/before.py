"""Run the contract against an earlier version: every point of the Python interface failed there.

    python -m tests.contract.before           # version 0.2.0
    python -m tests.contract.before REVISION

Prints which tests of each point fail with the sources of the revision, and exits with 1 where all
tests of a point pass: they then show nothing that is new. A test that cannot be imported, because
what it is about did not exist, counts as failing and is marked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

#: Points of the interface, and the tests that hold them.
POINTS = {
    "alignment": [
        "test_alignment.py::test_another_order_is_aligned[text-JointPairClassifier]",
        "test_alignment.py::test_positions_that_begin_at_one[JointPairClassifier]",
    ],
    "splits": [
        "test_splits.py::test_a_part_keeps_all_class_names[JointPairClassifier]",
        "test_splits.py::test_folds_and_searches_have_scores",
        "test_splits.py::test_folds_are_matched_to_each_other",
        "test_splits.py::test_what_needs_classes_says_so",
    ],
    "any estimator": [
        "test_any_estimator.py::test_inside_the_joint_learner[KNeighborsClassifier]",
        "test_any_estimator.py::test_one_that_is_too_simple_is_named",
    ],
    "networks": ["test_networks.py"],
    "fewer knobs": [
        "test_ecosystem.py::test_few_parameters_and_names",
        "test_lossless.py::test_frames_of_what_was_found",
        "test_former_names.py",
    ],
    "lossless": [
        "test_lossless.py::test_nothing_is_lost_on_the_way_through_a_table[pandas]",
        "test_lossless.py::test_tomorrow_joins_today",
    ],
    "researchers": ["test_ecosystem.py::test_methods_are_compared_on_data_of_ones_own"],
    "ecosystem": [
        "test_ecosystem.py::test_fifty_thousand_sparse_columns_are_not_slow",
        "test_threads.py::test_autologging_does_not_record_inner_fits[JointPairClassifier]",
    ],
    "messages": [
        "test_refusals.py::test_messages_say_what_to_do",
        "test_refusals.py::test_impossible_settings_of_the_joint_learner",
    ],
}


def main() -> int:
    revision = sys.argv[1] if len(sys.argv) > 1 else "154d007"
    with tempfile.TemporaryDirectory() as folder:
        files = subprocess.run(["git", "archive", revision, "src"], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=files.stdout, check=True)
        passed = [point for point, tests in POINTS.items() if not failing(point, tests, folder)]
    if passed:
        print(f"pass with {revision}, and so show nothing new: {', '.join(passed)}")
    return bool(passed)


def failing(point: str, tests: list[str], folder: str) -> int:
    """Print what becomes of the tests of a point, and return how many fail."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfEp",
        "-W",
        "ignore",
        "--no-header",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        *(f"tests/contract/{test}" for test in tests),
    ]
    said = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": f"{folder}/src"}
    ).stdout
    found = re.findall(r"^(FAILED|ERROR|PASSED) tests/contract/(\S+)", said, re.MULTILINE)
    print(f"{point}:", *sorted({f"  {what:7}{name}" for what, name in found}), sep="\n", flush=True)
    if not found:
        raise SystemExit(f"no test ran:\n{said}")
    return sum(what != "PASSED" for what, _ in found)


if __name__ == "__main__":
    sys.exit(main())
