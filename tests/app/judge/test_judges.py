"""Endpoints and programs: what they are sent, what is refused, and what is never shown."""

from __future__ import annotations

import base64
import http.server
import socket
import ssl
import subprocess
import threading
import time

import pytest

from noisypairs.app.judge import Command, Endpoint, Item, JudgeFailed, Prompt
from noisypairs.app.judge.asking import meaning
from noisypairs.app.judge.judges import LARGEST_REPLY, Judge, Unanswered
from tests.app.judge.judge_problems import replaying

LEFT, RIGHT = Item({"title": "thing 1", "empty": ""}, "a"), Item({"title": "thing 1"}, "b")
KEY = "sk-very-secret-0123456789"


def test_a_key_goes_into_one_header_and_no_message(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with replaying() as server:
        judge = Endpoint(server.url, "m", Prompt(), "MY_KEY", body={"temperature": None, "n": 1})
        assert judge.ask(LEFT, RIGHT).tokens == (100, 5)
        request = server.requests[0]
    assert request["headers"]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(request["body"])
    assert request["body"]["model"] == "m"
    assert request["body"]["n"] == 1
    assert "temperature" not in request["body"]
    for status in (401, 404, 302, 500, 400):
        with replaying(lambda *_, status=status: status) as server:
            judge = Endpoint(server.url, "m", Prompt(), "MY_KEY")
            with pytest.raises((JudgeFailed, Unanswered)) as caught:
                judge.ask(LEFT, RIGHT)
        assert KEY not in repr(caught.value)
        assert len(server.requests) == 1  # a redirect is followed nowhere
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ValueError, match="name of an environment variable") as refused:
        Endpoint("https://api.example.com/v1", "m", Prompt(), KEY)
    assert KEY not in str(refused.value)


def test_addresses_that_would_leak_a_key_or_are_none_are_refused(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    for url, said in (
        ("http://api.example.com/v1", "only sent over https"),
        ("file:///etc/passwd", "expected an address"),
        ("https://me:pw@example.com", "--key-env for the key"),
        ("example.com", "expected an address"),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            Endpoint(url, "m", Prompt(), "MY_KEY")
        assert "pw" not in str(caught.value)
    assert Endpoint("http://localhost:1/v1", "m", Prompt()).url.endswith("/v1/chat/completions")
    whole = "https://h/v1/chat/completions"
    assert Endpoint(whole, "m", Prompt()).url == whole


def raw_server(handle):
    """Listen on the loopback address; ``handle`` gets the first connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener, listener.accept()[0] as connection:
            request = b""
            while not request.endswith(b"}"):  # what is closed with unread bytes is reset
                request += connection.recv(65536)
            handle(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time():
    def drip(connection):
        for _ in range(600):
            try:
                connection.sendall(b"H")
            except OSError:
                return
            time.sleep(0.05)

    began = time.monotonic()
    with pytest.raises(Unanswered, match=r"no answer in 0\.2 s") as caught:
        Endpoint(raw_server(drip), "m", Prompt(), timeout=0.2).ask(LEFT, RIGHT)
    assert caught.value.billed
    assert time.monotonic() - began < 15


def test_replies_have_a_size_and_a_form():
    def huge(connection):
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * (LARGEST_REPLY + 10))

    def page(connection):
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n<html>Welcome</html>")

    with pytest.raises(Unanswered, match="more than 1,000,000 bytes"):
        Endpoint(raw_server(huge), "m", Prompt()).ask(LEFT, RIGHT)
    assert Endpoint(raw_server(page), "m", Prompt()).ask(LEFT, RIGHT).text == ""
    with pytest.raises(Unanswered, match="cannot be reached"):
        Endpoint("http://127.0.0.1:1/v1", "m", Prompt()).ask(LEFT, RIGHT)


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path):
    made = subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=h -keyout k.pem -out c.pem",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("openssl makes no certificate here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.handle_error = lambda *_: None
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.handle_request, daemon=True)
    thread.start()
    with pytest.raises(JudgeFailed, match=r"certificate of 127\.0\.0\.1 cannot be"):
        Endpoint(f"https://127.0.0.1:{server.server_port}", "m", Prompt()).ask(LEFT, RIGHT)
    thread.join(5)
    server.server_close()


def test_pictures_go_as_data_and_items_without_columns_by_their_ids(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"not really a picture")
    shown = Item({}, "a", picture)
    with replaying(lambda *_: "no") as server:
        judge = Endpoint(server.url, "m", Prompt())
        judge.ask(shown, RIGHT)
        content = server.requests[0]["body"]["messages"][1]["content"]
    url = content[1]["image_url"]["url"]
    assert url == f"data:image/png;base64,{base64.b64encode(b'not really a picture').decode()}"
    assert '{"id": "z"}' in judge.prompt_text(Item({}, "z"), RIGHT)
    assert judge.most_tokens(shown, RIGHT)[0] > judge.most_tokens(LEFT, RIGHT)[0] + 1000


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("read line; echo \"$line\" | grep -q 'thing 1' && echo yes || echo no", "yes\n"),
        ('echo \'{"answer": "different"}\'', '{"answer": "different"}\n'),
        ("while read line; do echo no; done", "no\n"),
        ("printf unsure", "unsure"),
    ],
)
def test_a_program_gets_a_line_and_answers_with_one(program, said):
    judge = Command(f"sh -c {program!r}" if "'" not in program else "sh", Prompt())
    judge.words = ["sh", "-c", program]
    assert judge.ask(LEFT, RIGHT).text == said
    assert meaning(said) in ("same", "different", "unsure")


def test_a_program_that_hangs_or_fails_gives_no_answer():
    began = time.monotonic()
    with pytest.raises(Unanswered, match=r"no answer in 0\.2 s"):
        Command("sh -c 'sleep 20 & wait'", Prompt(), 0.2).ask(LEFT, RIGHT)
    assert time.monotonic() - began < 5
    with pytest.raises(Unanswered, match="exit code 3"):
        Command("sh -c 'exit 3'", Prompt()).ask(LEFT, RIGHT)
    with pytest.raises(JudgeFailed, match="cannot be started"):
        Command("/no/such/judge", Prompt()).ask(LEFT, RIGHT)
    with pytest.raises(ValueError, match="name a program"):
        Command(" ", Prompt())


def test_a_function_may_answer_in_many_ways():
    for given, read in ((True, "same"), (None, "unsure"), ({"match": False}, "different")):
        assert meaning(Judge(lambda *_, given=given: given).ask(LEFT, RIGHT).text) == read

    def away(*_):
        raise TimeoutError

    with pytest.raises(Unanswered, match="TimeoutError"):
        Judge(away).ask(LEFT, RIGHT)
