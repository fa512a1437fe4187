"""Results of Toloka."""

from __future__ import annotations

from noisypairs.app.files import Columns, read_pairs
from tests.app.files.importers.linked_items import answers

HEAD = "INPUT:a_id\tINPUT:b_id\tINPUT:hint\tOUTPUT:same\tOUTPUT:ok\tGOLDEN:same\t"
HEAD += "ASSIGNMENT:worker_id\tASSIGNMENT:status\n"


def test_statuses_control_tasks_and_named_columns(tmp_path):
    path = tmp_path / "pool.tsv"
    rows = ["a\tb\tx\ttrue\tgood\ttrue\tw1\tAPPROVED", "a\tb\tx\tfalse\tgood\t\tw2\tREJECTED"]
    rows += ["b\tc\tx\tfalse\tgood\t\tw2\tSUBMITTED", "\t\t\t\t\t\t\t"]
    rows += ["a\tc\ty\tfalse\tbad\t\tw3\tEXPIRED"]
    path.write_text(HEAD + "\n".join(rows) + "\n")
    data = read_pairs(path)
    assert answers(data) == {("a", "b", True), ("b", "c", False)}
    assert data.annotator_names == ["w1", "w2"]
    assert any("2 rejected assignments left out" in note for note in data.notes)
    assert any("1 answer to control tasks kept as answers" in note for note in data.notes)
    swapped = Columns(left="INPUT:b_id", right="a_id", same="OUTPUT:same")
    assert answers(read_pairs(path, swapped)) == {("b", "a", True), ("c", "b", False)}
