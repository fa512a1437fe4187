"""What answers mean, as a user says it: "yes=same,nope=different", or a file of such lines."""

from __future__ import annotations

from pathlib import Path

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile
from noisypairs.app.files.frames import read_table
from noisypairs.pairs import answers

FORM = 'expected "yes=same,nope=different,can\'t tell=unsure", or a file with two columns'


def read_meanings(given: str) -> dict[str, str]:
    """Return {word: meaning} from text such as "yes=same,nope=different", or from a file.

    A file is a table of two columns, word and meaning, with or without a header.

    >>> read_meanings("yes=same, can't tell=unsure")
    {'yes': 'same', "can't tell": 'unsure'}
    """
    path = Path(given)
    found = _from_file(path) if "=" not in given or path.is_file() else _from_text(given)
    try:
        answers.meanings(found)
    except ValueError as error:
        raise ValueError(f"--answers: {error}") from error
    return found


def _from_text(given: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(str.strip, given.replace(";", ",").split(",")):
        word, sign, meaning = part.rpartition("=")
        if not sign:
            raise ValueError(f"--answers: {part.strip()!r} has no meaning: {FORM}")
        if found.setdefault(word.strip(), meaning.strip()) != meaning.strip():
            raise ValueError(f"--answers: {word.strip()!r} is given two meanings: give one")
    return found


def _from_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise ValueError(f"--answers {path}: there is no such file; {FORM}")
    table = read_table(path)
    if table.frame.shape[1] != 2:
        raise BadFile(f"{path} has {table.frame.shape[1]} columns: {FORM}, word and meaning")
    words, senses = (as_text(table.frame[name]).tolist() for name in table.frame.columns)
    first, meaning = map(str, table.frame.columns)
    if meaning.lower() in answers.WORDS:  # no header: the first line is an answer too
        words, senses = [first, *words], [meaning, *senses]
    return dict(zip(words, senses, strict=True))
