"""What the pages say about the code is checked against the code: rooms, layers, ways and links."""

from __future__ import annotations

import contextlib
import pkgutil
import re
import runpy
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "noisypairs"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """Return the text under a heading of the second level."""
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE
    )
    assert found is not None, heading
    return found[1]


def rooms() -> set[str]:
    """Return every package, at any depth, and every module of the two outer rooms."""
    packages = {init.parent for init in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    modules = {file for folder in (PACKAGE, PACKAGE / "app") for file in folder.glob("[!_]*.py")}
    names = {f"{folder.relative_to(PACKAGE)}/" for folder in packages}
    return names | {str(file.relative_to(PACKAGE)) for file in modules}


def test_every_room_has_its_line():
    lines = re.findall(r"^\| `([^`]+)` \|", section(ARCHITECTURE, "The rooms"), re.MULTILINE)
    assert set(lines) == rooms()
    assert len(lines) == len(set(lines))


def test_the_listing_stays_short_enough_to_be_read():
    left_out = ("__pycache__", "__init__.pyi")  # the twin of __init__.py
    entries = [path for path in PACKAGE.iterdir() if path.name not in left_out]
    assert len(entries) <= 26


def test_the_picture_is_what_its_script_draws_and_shows_every_room():
    drawing = runpy.run_path(str(ROOT / "docs" / "figures" / "architecture.py"))
    picture = drawing["TARGET"].read_text(encoding="utf-8")
    assert picture == drawing["picture"](), "run docs/figures/architecture.py"
    shown = {box.name for box in drawing["BOXES"] if box.kind == "room"}
    outer = {room for room in rooms() if room.count("/") == room.endswith("/")}
    app = {room for room in rooms() if re.fullmatch(r"app/[^/]+/?", room)}
    assert shown == (outer - {"app/"}) | app


def test_the_lowest_versions_on_the_page_are_those_that_are_required():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    required = [*project["dependencies"], *extras["app"], *extras["ask"][1:]]
    required += [*extras["torch"], *extras["spark"]]
    lowest = [re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", one) for one in required]
    rows = re.findall(
        r"^\| ([\w-]+) \| ([\d.]+) \|", section(CONTRIBUTING, "Lowest versions"), re.MULTILINE
    )
    assert rows == [one.groups() for one in lowest if one]
    assert len(rows) == len(required)


@pytest.mark.parametrize("way", ["From pairs.csv to report.html", "From Pairs to predict"])
def test_the_steps_of_a_way_name_files_and_what_is_in_them(way):
    """After a file, backticked names in the same step are found in that file."""
    named = 0
    for step in re.split(r"^\d+\. ", section(ARCHITECTURE, way), flags=re.MULTILINE)[1:]:
        text = None
        for name in re.findall(r"`([^`]+)`", step):
            if name.endswith(".py"):
                text = (PACKAGE / name).read_text(encoding="utf-8")
            elif text is not None and name.isidentifier():
                assert re.search(rf"\b{name}\b", text), f"{name} is not in {step}"
                named += 1
        assert text is not None, f"no file in {step!r}"
    assert named >= 8


PRESENT = [page for page in PAGES if page.name != "CHANGELOG.md"]  # which names what was


@pytest.mark.parametrize("page", PRESENT, ids=lambda page: page.name)
def test_names_and_files_on_a_page_exist(page):
    """Dotted names such as ``noisypairs.metrics.x`` resolve; files of the repository are there."""
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"\b(noisypairs(?:\.[A-Za-z_]\w*)+)", text))
    assert [name for name in names if name.count(".") and not resolves(name)] == []
    files = set(re.findall(r"(?<![\w/])((?:tests|benchmarks|docs)/[\w/.-]*\w)", text))
    assert [file for file in files if not (ROOT / file).exists()] == []


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one; a file's name passes as it is."""
    if name in ("noisypairs.json",):  # a member of model files
        return True
    with contextlib.suppress(AttributeError, ImportError):
        pkgutil.resolve_name(name)
        return True
    return False


# ---------------------------------------------------------------- layers


def layers() -> list[set[str]]:
    """Return the layers of the import contract, from the top, each as names without the package."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["type"] == "layers")
    assert "ignore_imports" not in contract
    return [
        {name.strip(" ()").removeprefix("noisypairs.") for name in re.split("[:|]", layer)}
        for layer in contract["layers"]
    ]


def test_the_chain_of_layers_is_that_of_the_contract():
    (chain,) = re.findall(r"```\n(.*?)```", section(CONTRIBUTING, "Imports point down"), re.DOTALL)
    shown = [set(re.split(r",\s+", line.strip())) for line in chain.strip().splitlines()]
    assert shown == layers()
    assert len(shown) <= 16


def test_every_room_is_in_a_layer():
    tops = {room.rstrip("/").removesuffix(".py").replace("/", ".") for room in rooms()}
    own = {room for room in tops if room.count(".") == room.startswith("app.")} - {"app"}
    assert set.union(*layers()) == own


def test_siblings_never_import_each_other_in_a_circle():
    """Imports inside functions count; imports for the type checker alone do not."""
    graph = grimp.build_graph("noisypairs", exclude_type_checking_imports=True, cache_dir=None)
    circles = {room: graph.nominate_cycle_breakers(room) for room in sorted(graph.modules)}
    assert {room: found for room, found in circles.items() if found} == {}


# ---------------------------------------------------------------- links


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading.

    >>> anchor("What is in the files? `check`")
    'what-is-in-the-files-check'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page; headings inside code blocks are none."""
    prose = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)}


def links(page: Path) -> list[str]:
    """Return the relative links of a page."""
    return re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_pages_lead_somewhere(page):
    broken = []
    for link in links(page):
        path, _, place = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "generated" in target.parts:
            continue  # written when the site is built, which checks these links
        if not target.exists() or (place and place not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_pages_have_links_with_and_without_anchors():
    found = [link for page in PAGES for link in links(page)]
    assert len(found) > 40
    assert sum("#" in link for link in found) >= 3


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached:
            continue
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]) for link in links(page)]
        written = [target for target in targets if "generated" not in target.parts]
        waiting += [target for target in written if target.suffix == ".md"]
    assert {page.resolve() for page in PAGES} <= reached
