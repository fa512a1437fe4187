"""Who answers: a Python function, a program, or a model behind an OpenAI-compatible endpoint.

What an endpoint sends is not trusted: it has a time and a size, redirects are not followed, and
neither its words nor the key come into a message.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from noisypairs.app.files.media import TYPES
from noisypairs.app.judge.prompt import INSIST, SYSTEM, Prompt

LARGEST_REPLY = 1_000_000
"""Bytes of a reply, or of a line of a program; more are an error."""

LARGEST_PICTURE = 5_000_000
PICTURE_TOKENS = 5_000
"""Tokens that a picture is reserved at; what it took is in the reply."""

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_STRANGE_PAIR = (400, 413, 422)
"""Refusals that may be about one pair alone, such as by a filter of contents."""


class JudgeFailed(ValueError):
    """A judge cannot answer, and asking again would not help; the message says what to do."""


class Unanswered(Exception):
    """No answer came to one question.

    ``again`` says whether to ask again, after ``wait`` seconds if they are named; ``billed`` that
    the answer may have been made, and lost on its way.
    """

    def __init__(
        self, why: str, again: bool = True, wait: float | None = None, billed: bool = False
    ) -> None:
        super().__init__(why)
        self.again, self.wait, self.billed = again, wait, billed


class Item(dict[str, str]):
    """The columns of an item that are shown, as text; ``id`` and ``picture`` stand beside them."""

    def __init__(self, cells: Mapping[str, str], id: str, picture: Path | None = None) -> None:
        super().__init__({name: text for name, text in cells.items() if text})
        self.id, self.picture = id, picture


@dataclass(frozen=True)
class Reply:
    """What a judge said; ``tokens`` in and out, None where they are not known."""

    text: str
    tokens: tuple[int, int] | None = None


class Judge:
    """A function of two `Item`: it returns a bool, None for unsure, or words that are read."""

    def __init__(self, function: Callable[[Item, Item], Any]) -> None:
        self.function = function

    def ask(self, left: Item, right: Item, insist: bool = False) -> Reply:
        """Return what it says; with ``insist`` its last answer could not be read."""
        del insist
        try:
            said = self.function(left, right)
        except (TimeoutError, ConnectionError) as error:
            raise Unanswered(f"it raised {type(error).__name__}") from error
        if isinstance(said, Mapping):
            return Reply(json.dumps(dict(said)))
        return Reply("unsure" if said is None else str(said))

    def most_tokens(self, left: Item, right: Item) -> tuple[int, int]:
        """Return how many tokens one question takes at most, in and out."""
        del left, right
        return 0, 0

    def prompt_text(self, left: Item, right: Item) -> str:
        """Return what is asked, as a person would read it."""
        return json.dumps([left, right], ensure_ascii=False)


class Command(Judge):
    """A program: it gets one line of JSON on its input, and answers with one line."""

    def __init__(self, command: str, prompt: Prompt, timeout: float = 60.0) -> None:
        self.words, self.prompt, self.timeout = shlex.split(command), prompt, timeout
        if not self.words:
            raise ValueError("--command: name a program, such as --command ./judge.sh")

    def ask(self, left: Item, right: Item, insist: bool = False) -> Reply:
        """Start the program for this question, and read the first line that it prints."""
        line = self.prompt_text(left, right, INSIST * insist).encode(errors="replace") + b"\n"
        try:
            process = subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise JudgeFailed(f"{self.words[0]} cannot be started: {error.strerror}") from error
        assert process.stdin is not None
        assert process.stdout is not None
        with _deadline(self.timeout, lambda: _end(process)) as late:
            with suppress(BrokenPipeError):
                process.stdin.write(line)
                process.stdin.close()
            said = process.stdout.readline(LARGEST_REPLY)
            code = None if said.endswith(b"\n") else process.wait()
        _end(process)
        if late.is_set():
            raise Unanswered(f"no answer in {self.timeout:g} s")
        if code and not said:
            raise Unanswered(f"ended with exit code {code}")
        return Reply(said.decode(errors="replace"))

    def prompt_text(self, left: Item, right: Item, more: str = "") -> str:
        """Return the line of JSON that the program gets."""
        both = {"left": {"id": left.id, **left}, "right": {"id": right.id, **right}}
        asked = {"question": self.prompt.question, "prompt": self.prompt.text(left, right) + more}
        return json.dumps(both | asked)


class Endpoint(Judge):
    """A model behind the chat interface of OpenAI, which many servers offer.

    ``key_env`` names the environment variable with the key. ``body`` is added to every request;
    what is None in it is left out, such as ``{"temperature": None}``.
    """

    def __init__(
        self,
        url: str,
        model: str,
        prompt: Prompt,
        key_env: str | None = None,
        max_tokens: int = 64,
        body: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
    ) -> None:
        self.url, self.prompt, self.timeout = _checked_url(url, key_env), prompt, timeout
        self._key = _key(key_env)
        whole = {"model": model, "temperature": 0, "max_tokens": max_tokens, **(body or {})}
        self.body = {name: value for name, value in whole.items() if value is not None}
        limits = (self.body.get(name) for name in ("max_tokens", "max_completion_tokens"))
        self.max_tokens = max((one for one in limits if isinstance(one, int)), default=max_tokens)

    def ask(self, left: Item, right: Item, insist: bool = False) -> Reply:
        """Send one question and return its answer."""
        text = self.prompt_text(left, right) + INSIST * insist
        pictures = [one.picture for one in (left, right) if one.picture is not None]
        content: Any = text
        if pictures:
            content = [{"type": "text", "text": text}]
            content += [{"type": "image_url", "image_url": {"url": _data(p)}} for p in pictures]
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]
        data = json.dumps(self.body | {"messages": messages}).encode()
        return _reply(self._send(data))

    def most_tokens(self, left: Item, right: Item) -> tuple[int, int]:
        """Return a bound: no token is shorter than a byte."""
        n_pictures = sum(one.picture is not None for one in (left, right))
        text = SYSTEM + self.prompt_text(left, right) + INSIST
        return len(text.encode(errors="replace")) + PICTURE_TOKENS * n_pictures, self.max_tokens

    def prompt_text(self, left: Item, right: Item) -> str:
        """Return the question as the model gets it, without the words of the system."""
        shown = (one if one or one.picture else {"id": one.id} for one in (left, right))
        return self.prompt.text(*shown)

    def _send(self, data: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "noisypairs"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        connection, path = _connection(self.url, self.timeout)
        with closing(connection), _deadline(self.timeout, lambda: _hang_up(connection)) as late:
            try:
                connection.request("POST", path, data, headers)
                response = connection.getresponse()
                found: bytes = response.read(LARGEST_REPLY + 1)
            except (OSError, http.client.HTTPException) as error:
                raise self._broken(error, late.is_set()) from None
        if response.status != http.HTTPStatus.OK:
            raise _refusal(response.status, response.headers.get("Retry-After"))
        if late.is_set():
            raise Unanswered(f"no answer in {self.timeout:g} s", billed=True)
        if len(found) > LARGEST_REPLY:
            raise Unanswered(
                f"a reply of more than {LARGEST_REPLY:,} bytes", again=False, billed=True
            )
        return found

    def _broken(self, error: Exception, late: bool) -> Exception:
        host = urlsplit(self.url).hostname
        if isinstance(error, ssl.SSLCertVerificationError):
            why = error.verify_message
            return JudgeFailed(f"the certificate of {host} cannot be verified: {why}")
        if late or isinstance(error, TimeoutError):
            return Unanswered(f"no answer in {self.timeout:g} s", billed=True)
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return Unanswered(f"{host} cannot be reached")
        return Unanswered(f"the connection broke ({type(error).__name__})", billed=True)


def _connection(url: str, timeout: float) -> tuple[http.client.HTTPConnection, str]:
    """Return a connection to an address, and the path to ask for.

    A proxy that the environment names is used, but not for this machine.
    """
    parts = urlsplit(url)
    host = str(parts.hostname)
    kind: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
    if parts.scheme == "https":
        kind = partial(http.client.HTTPSConnection, context=ssl.create_default_context())
    path = parts._replace(scheme="", netloc="").geturl()
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy is None or host in _LOOPBACK or urllib.request.proxy_bypass(host):
        return kind(host, parts.port, timeout=timeout), path
    through = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    connection = kind(str(through.hostname), through.port, timeout=timeout)
    who = unquote(through.netloc.rpartition("@")[0])
    basic = {"Proxy-Authorization": f"Basic {base64.b64encode(who.encode()).decode()}"}
    connection.set_tunnel(host, parts.port or _PORTS[parts.scheme], basic if who else {})
    return connection, path


@contextmanager
def _deadline(seconds: float, end: Callable[[], None]) -> Iterator[threading.Event]:
    """Call ``end`` if the block takes longer, however slowly something still arrives in it."""
    late = threading.Event()

    def expire() -> None:
        late.set()
        end()

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    sock: socket.socket | None = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _refusal(status: int, retry_after: str | None) -> Exception:
    if status == 429 or status >= 500 or status == 408:
        plain = re.fullmatch(r"\d+(\.\d+)?", retry_after or "")
        return Unanswered(f"status {status}", wait=float(plain[0]) if plain else None)
    if status in _STRANGE_PAIR:
        return Unanswered(f"status {status}", again=False)
    if 300 <= status < 400:
        return JudgeFailed(
            f"the endpoint redirects elsewhere (status {status}), which is not followed: give the "
            "address at which it answers"
        )
    advice = "check the address and the name of the model"
    if status in (401, 403):
        advice = "check the key: --key-env names the environment variable that holds it"
    return JudgeFailed(f"the endpoint refuses with status {status}: {advice}")


def _reply(data: bytes) -> Reply:
    """Return the words and the tokens of a reply; one in another form has no words."""
    try:
        found = json.loads(data)
        content = found["choices"][0]["message"]["content"]
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Reply("")
    usage = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    into, out = usage.get("prompt_tokens"), usage.get("completion_tokens")
    words = content if isinstance(content, str) else ""
    if isinstance(into, int) and isinstance(out, int) and min(into, out) >= 0:
        return Reply(words, (into, out))
    return Reply(words)


def _checked_url(url: str, key_env: str | None) -> str:
    """Return the address of the chat interface, or say why it cannot be used."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            "--endpoint: expected an address such as https://api.example.com/v1 or "
            "http://localhost:8000/v1"
        )
    if parts.username or parts.password:
        raise ValueError("--endpoint holds a name or password: use --key-env for the key")
    if key_env is not None and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ValueError(
            f"--endpoint {parts.scheme}://{parts.hostname}: a key is only sent over https"
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return parts._replace(path=path, fragment="").geturl()


def _key(key_env: str | None) -> str | None:
    if key_env is None:
        return None
    key = os.environ.get(key_env, "").strip()
    if not key:
        raise ValueError(
            "--key-env takes the name of an environment variable that holds the key, not the key: "
            "there is none of that name, or it is empty"
        )
    if not key.isascii() or not key.isprintable():
        raise ValueError(f"the key in {key_env} holds characters that no key has")
    return key


def _data(picture: Path) -> str:
    if picture.stat().st_size > LARGEST_PICTURE:
        raise JudgeFailed(
            f"{picture.name} has more than {LARGEST_PICTURE / 1e6:.0f} MB: make the pictures "
            "smaller first"
        )
    kind = TYPES[picture.suffix.lower()]
    return f"data:{kind};base64,{base64.b64encode(picture.read_bytes()).decode()}"
