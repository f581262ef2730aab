"""Who may use the page."""

import pytest

from manyview.labeling.security import Guard, headers_for, is_local


def scope(host="127.0.0.1:80", token="t", path="/api/state", **headers):
    sent = {name.replace("_", "-"): value for name, value in {"host": host, **headers}.items()}
    return {
        "type": "http",
        "path": path,
        "query_string": f"token={token}".encode(),
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in sent.items()
        ],
    }


@pytest.fixture
def guard():
    return Guard(None, token="t", host="127.0.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.1"])
def test_the_page_itself_may(guard, host):
    assert guard.problem(scope(host, origin=f"http://{host}")) is None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "10.0.0.7"])
def test_other_names_of_this_machine_may_not(guard, host):
    assert "not the one of `manyview label`" in guard.problem(scope(host))


def test_other_pages_may_not(guard):
    assert "Another page" in guard.problem(scope(origin="http://evil.example"))
    assert "Another page" in guard.problem(scope(origin="http://127.0.0.1:81"))
    assert "Another page" in guard.problem(scope(origin="null"))
    assert "Another page" in guard.problem(scope(sec_fetch_site="cross-site"))
    assert guard.problem(scope(sec_fetch_site="same-origin")) is None
    assert guard.problem(scope(path="/", sec_fetch_site="cross-site")) is None  # a notebook's frame


@pytest.mark.parametrize("token", ["", "T", "tt", "t%00"])
def test_nobody_may_without_the_token(guard, token):
    assert "token is missing or wrong" in guard.problem(scope(token=token))


def test_the_token_may_come_in_a_header(guard):
    assert guard.problem(scope(token="", x_manyview_token="t")) is None


def test_a_public_server_takes_numbers_but_no_strange_names():
    guard = Guard(None, token="t", host="0.0.0.0")
    assert guard.problem(scope("10.0.0.7:80")) is None
    assert guard.problem(scope("evil.example")) is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.9.9.9"])
def test_local_hosts_are_known(host):
    assert is_local(host)


def test_the_policy_forbids_everything_from_outside():
    policy = headers_for()["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
