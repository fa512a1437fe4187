"""A Spark session behind pair tables: a local one or a cluster's, and the Java that it runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from typing import Any
from uuid import uuid4

from noisypairs.tables.engine import LostEngine, errors_naming, java_answers, load_ibis, optional

#: The address Spark listens on: this machine alone.
LOOPBACK = "127.0.0.1"
#: The lowest version of Java on which Spark 4 runs.
LOWEST_JAVA = 17


class MissingJava(ValueError):
    """Spark has no Java to run on, or one that is too old; the message says what to install."""


def spark_engine(session: Any = None, cores: int = 2, master: str | None = None) -> Any:
    """Open Ibis on a Spark session: the one given, that of a ``master``, or a local one.

    The local session listens on 127.0.0.1 only, shows no web page and keeps few partitions: use it
    to try on a laptop what will run on a cluster. If the Java process of an earlier session has
    died, another one is started.
    """
    sql = optional("pyspark.sql", "spark", "Reading pairs with Spark")
    ibis = load_ibis()
    if session is None:
        find_java()
        _forget_dead_session(sql)
        session = _new_session(sql, cores, master or f"local[{cores}]")
    with errors_naming("The Spark session"):
        return ibis.pyspark.connect(session)


def _new_session(sql: Any, cores: int, master: str) -> Any:
    builder = sql.SparkSession.builder.master(master).appName("noisypairs")
    if not master.startswith("local"):
        return builder.getOrCreate()
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # which has this package
    settings = {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def find_java() -> str:
    """Return the Java that Spark would start, or say which version to install."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    install = (
        f"Install Java {LOWEST_JAVA} or later (Debian and Ubuntu: apt install "
        f"openjdk-{LOWEST_JAVA}-jre-headless; macOS: brew install openjdk@{LOWEST_JAVA})"
    )
    if java is None:
        where = f"JAVA_HOME is {home}, where there is none" if home else "there is none on the PATH"
        raise MissingJava(
            f"Spark needs Java, and {where}. {install}, or set JAVA_HOME to its folder"
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is not None and int(version[1]) < LOWEST_JAVA:
        raise MissingJava(f"Spark needs a later Java than {java}, which is {version[1]}. {install}")
    return java


def _forget_dead_session(sql: Any) -> None:
    """Let go of a session whose Java process has died, so that the next one starts another.

    pyspark keeps one process per Python process, in these attributes, and never looks whether it
    is still there. They are private: if one is missing, a new process is all that helps.
    """
    if java_answers():
        return
    context = import_module("pyspark").SparkContext
    kept = [(context, name) for name in ("_gateway", "_jvm", "_active_spark_context")]
    kept.append((sql.SparkSession, "_instantiatedSession"))
    if not all(hasattr(owner, name) for owner, name in kept):
        raise LostEngine(
            "the Java process of Spark has died, and this version of pyspark cannot start another "
            "one here: restart Python"
        )
    for owner, name in kept:
        setattr(owner, name, None)


def read_with_spark(engine: Any, kind: str, paths: tuple[str, ...]) -> Any:
    """Return many files as one Ibis table: Spark's own reader takes them all, Ibis's only one."""
    reader = engine._session.read
    if kind == "parquet":
        frame = reader.parquet(*paths)
    else:
        frame = reader.csv(list(paths), header=True, inferSchema=False)
    name = f"pairs_{uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return engine.table(name)
