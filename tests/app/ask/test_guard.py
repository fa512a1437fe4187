"""What stands before every request: hosts, origins, sizes and headers."""

from __future__ import annotations

import pytest

from noisypairs.app.ask.guard import MOST_BYTES
from tests.app.ask.ask_problems import Client, open_site

BASE = Client.base


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    site = open_site(tmp_path_factory.mktemp("guard"))
    return Client(site)


def join(client, **headers):
    return client.post("/api/join", json={"name": "ann"}, headers=headers)


def test_the_page_may_run_its_own_script_and_ask_its_own_server_only(client):
    policy = client.get("/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert "unsafe" not in policy
    for path in ("/", "/api/now", "/static/page.js", "/owner", "/none"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == policy
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
    ],
)
def test_posts_from_other_sites_are_refused(client, headers):
    assert join(client, **headers).status_code == 403
    assert join(client, origin=BASE, **{"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "", "127.0.0.1.evil.example", "["]
)
def test_other_names_that_lead_to_the_loopback_address_are_refused(client, host):
    for path in ("/", "/api/now", "/media/1"):
        assert client.get(path, headers={"host": host}).status_code == 403
    for own in ("localhost:1", "127.0.0.1", "[::1]:8765"):
        assert client.get("/", headers={"host": own}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b"[" * 4000, 400),
        (b'{"name": "' + b"x" * MOST_BYTES + b'"}', 413),
    ],
)
def test_what_is_no_small_object_is_refused(client, body, status):
    told = client.post("/api/join", content=body, headers={"content-type": "application/json"})
    assert told.status_code == status
    assert told.json()["error"]


PROXY = "https://pairs.example.org"


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
def test_what_a_proxy_sends_on_needs_the_option_for_it(client, name):
    """Else everybody in the world would be taken for somebody at this machine."""
    told = client.get("/api/now", headers={name: "192.0.2.7"})
    assert (told.status_code, "--behind-proxy" in told.text) == (403, True)


def test_behind_a_proxy_its_address_and_a_token_are_needed(tmp_path):
    site = open_site(tmp_path, loopback=False, public=PROXY)
    client = Client(site)
    for host in ("pairs.example.org", "127.0.0.1:8765"):  # as the proxy is set up
        assert client.get("/", headers={"host": host, "x-forwarded-for": "::1"}).status_code == 200
        assert client.get("/api/now", headers={"host": host}).json()["join"] is False
        assert join(client, host=host, origin=PROXY).status_code == 403  # no token
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
    let_in = client.get(f"/?token={site.people.join_token}")
    assert "secure" in let_in.headers["set-cookie"].lower()
    cookie = {"cookie": let_in.headers["set-cookie"].partition(";")[0]}
    assert join(client, origin="https://evil.example", **cookie).status_code == 403
    assert join(client, origin=BASE, **cookie).status_code == 403
    assert join(client, origin=PROXY, **cookie).status_code == 200
    client.cookies.set(f"{site.cookie}-owner", site.people.owner_token)
    assert f"{PROXY}/?token={site.people.join_token}" in client.get("/owner").text
