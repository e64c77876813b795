import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from takagi.datasets import DownloadError
from takagi.datasets._fetch import Patience, download_file
from takagi.datasets._folders import find_file
from takagi.datasets._parse import MOST_SOURCE_BYTES
from takagi.datasets._registry import DATASETS

CONTENT = b"1 2\n3 4\n" * 20_000
PLAIN, ZIPPED = "/ml/toy.data", "/static/toy.zip"
SOURCE = replace(
    DATASETS["Yacht"].source,
    path="uci/toy/toy.data",
    urls=(f"https://archive.invalid{PLAIN}", f"https://archive.invalid{ZIPPED}"),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
IMPATIENCE = Patience(attempts=3, backoff=0.001, timeout=5, longest=60)
FETCH = [sys.executable, "-c", "from takagi.datasets import fetch_dataset; print(fetch_dataset('NO2', quiet=True))"]


def download(folder, source=SOURCE):
    return download_file(source, folder, quiet=True, patience=IMPATIENCE)


def cut_half_way(answer):
    answer.send_bytes(CONTENT[: len(CONTENT) // 2], len(CONTENT))


def send_letters(answer):
    """Send one letter after the other and never end."""
    while True:
        answer.wfile.write(b"H")
        time.sleep(0.01)


def send_slowly(answer):
    answer.send_response(200)
    answer.end_headers()
    send_letters(answer)


def send_endlessly(answer):
    answer.send_response(200)
    answer.end_headers()
    while True:
        answer.wfile.write(b"1 " * (1 << 19))


def redirect_to(address):
    def answer(answer):
        answer.send_response(302)
        answer.send_header("Location", address)
        answer.end_headers()

    return answer


def change_member(place, value):
    """Return an archive with another byte in both headers of its last member, which has this place in the first."""
    content = bytearray(zipped("toy.data"))
    content[content.rfind(b"PK\x03\x04") + place] = value
    content[content.rfind(b"PK\x01\x02") + place + 2] = value
    return bytes(content)


def zipped(name, content=CONTENT):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Readme.txt", "read me")
        archive.writestr(name, content)
    return stream.getvalue()


def test_file_arrives_whole(archive, tmp_path):
    archive.answers[PLAIN] = [CONTENT]
    path = download(tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "toy.data"
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == ["toy.data"]
    assert archive.asked == [PLAIN]


@pytest.mark.parametrize("member", ["toy.data", "Toy/toy.data"])
def test_file_comes_out_of_the_archive_if_it_is_not_at_its_old_address(archive, tmp_path, member):
    archive.answers[ZIPPED] = [zipped(member)]
    assert download(tmp_path).read_bytes() == CONTENT
    assert archive.asked == [PLAIN, ZIPPED]


@pytest.mark.parametrize("first", [503, 429, cut_half_way])
def test_failure_that_passes_is_tried_again(archive, tmp_path, first):
    archive.answers[PLAIN] = [first, first, CONTENT]
    assert download(tmp_path).read_bytes() == CONTENT
    assert archive.asked == [PLAIN] * 3


@pytest.mark.parametrize(
    ("answer", "n_attempts", "reason"),
    [
        (404, 1, "HTTP Error 404: Not Found"),
        (500, 3, "HTTP Error 500: Internal Server Error"),
        (cut_half_way, 3, "the connection was cut after 80000 of 160000 bytes"),
        (CONTENT + b"5 6\n", 1, f"expected sha256 {SOURCE.sha256}, got "),
        (lambda answer: answer.wfile.write(b"not HTTP at all"), 3, "not HTTP at all"),
    ],
    ids=["missing", "broken", "cut", "changed", "strange"],
)
def test_failure_says_why_and_leaves_nothing(archive, tmp_path, answer, n_attempts, reason):
    archive.answers[PLAIN] = [answer]
    archive.answers[ZIPPED] = [zipped("other.data")]
    with pytest.raises(DownloadError, match=r"toy.data could not be downloaded") as caught:
        download(tmp_path)
    assert reason in str(caught.value)
    assert f"{archive.address}{ZIPPED}: the archive has no toy.data" in str(caught.value)
    assert f"Put the file into {tmp_path}" in str(caught.value)
    assert archive.asked == [PLAIN] * n_attempts + [ZIPPED]
    assert os.listdir(tmp_path) == []


def test_archive_that_is_none_is_refused(archive, tmp_path):
    archive.answers[ZIPPED] = [CONTENT]
    with pytest.raises(DownloadError, match="not a valid zip archive"):
        download(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zipped("toy.data", bytes(MOST_SOURCE_BYTES + 1)), "it unpacks to 32,000,001 bytes"),
        (change_member(6, 1), "encrypted"),
        (change_member(8, 99), "compression method"),
        (zipped("toy.data")[:-30], "not a zip file"),
    ],
    ids=["bomb", "encrypted", "unknown method", "cut"],
)
def test_hostile_archive_is_a_reason_to_try_the_next_address(archive, tmp_path, content, reason):
    archive.answers[ZIPPED] = [content]
    with pytest.raises(DownloadError, match=reason):
        download(tmp_path)
    archive.answers[PLAIN] = [CONTENT]
    other_way_round = replace(SOURCE, urls=SOURCE.urls[::-1])
    assert download(tmp_path, other_way_round).read_bytes() == CONTENT


def test_endless_answer_ends_at_the_most_bytes_of_a_file(archive, tmp_path):
    archive.answers[PLAIN] = [send_endlessly]
    with pytest.raises(DownloadError, match="it has more than 32,000,000 bytes"):
        download(tmp_path)
    assert archive.asked == [PLAIN, ZIPPED]


@pytest.mark.parametrize("answer", [send_letters, send_slowly], ids=["head", "body"])
def test_server_that_sends_a_letter_now_and_then_is_left(archive, tmp_path, answer):
    archive.answers[PLAIN] = [answer]
    start = time.monotonic()
    with pytest.raises(DownloadError, match="the server is too slow"):
        download_file(SOURCE, tmp_path, quiet=True, patience=Patience(backoff=0.001, timeout=5, longest=0.3))
    assert time.monotonic() - start < 4
    assert archive.asked == [PLAIN, ZIPPED]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1:1/toy.data", "data:text/plain,1"])
def test_redirection_to_another_scheme_is_refused(archive, tmp_path, address):
    archive.answers[PLAIN] = [redirect_to(address)]
    with pytest.raises(DownloadError, match=r"redirects from http to|not allowed"):
        download(tmp_path)


def test_redirection_within_the_scheme_is_followed(archive, tmp_path):
    archive.answers[PLAIN] = [redirect_to(f"{archive.address}/new")]
    archive.answers["/new"] = [CONTENT]
    assert download(tmp_path).read_bytes() == CONTENT


def test_without_a_network_the_error_names_file_address_and_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("TAKAGI_MIRROR", raising=False)
    with pytest.raises(DownloadError) as caught:
        download(tmp_path)
    for part in ("toy.data", f"https://archive.invalid{PLAIN}", str(tmp_path), "TAKAGI_DATA"):
        assert part in str(caught.value)


def test_values_decide_where_bytes_are_not_known(archive, tmp_path, no2):
    source = DATASETS["NO2"].source
    archive.answers["/datasets/NO2.dat"] = [no2 + b"\n"]
    assert download(tmp_path, source).read_bytes() == no2 + b"\n"
    archive.answers["/datasets/NO2.dat"] = [no2.replace(b"3.6984", b"3.7984", 1)]
    with pytest.raises(DownloadError, match="expected a mean"):
        download(tmp_path / "other", source)
    assert not (tmp_path / "other").exists()


def test_folder_that_cannot_be_written_is_named(archive, tmp_path):
    archive.answers[PLAIN] = [CONTENT]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        download(tmp_path / "file")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_write_that_ends_half_way_leaves_nothing(archive, tmp_path):
    import resource

    archive.answers[PLAIN] = [CONTENT]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            download(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []


def test_real_files_pass_their_checks(archive, real_files, tmp_path):
    sources = {dataset.source.name: dataset.source for dataset in DATASETS.values()}
    for source in sources.values():
        path, content = urlsplit(source.urls[0]).path, find_file(source, real_files).read_bytes()
        archive.answers[path] = [zipped(f"CCPP/{source.name}", content) if path.endswith(".zip") else content]
    for source in sources.values():
        download(tmp_path, source)
    assert set(os.listdir(tmp_path)) == set(sources)


def test_no_attempt_is_refused(archive, tmp_path):
    with pytest.raises(DownloadError, match="attempts must be at least 1, got 0"):
        download_file(SOURCE, tmp_path, quiet=True, patience=Patience(attempts=0))


@pytest.mark.slow
def test_two_processes_at_once_both_get_the_file(archive, cache, no2):
    together = threading.Barrier(2, timeout=60)

    def answer_together(answer):
        together.wait()
        answer.send_bytes(no2, len(no2))

    archive.answers["/datasets/NO2.dat"] = [answer_together]
    processes = [subprocess.Popen(FETCH, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert printed == [str(cache / "NO2.dat")] * 2
    assert (cache / "NO2.dat").read_bytes() == no2
    assert os.listdir(cache) == ["NO2.dat"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_killed_download_leaves_nothing(archive, cache, no2):
    under_way, killed = threading.Event(), threading.Event()

    def stop_half_way(answer):
        answer.send_bytes(no2[:5000], len(no2))
        under_way.set()
        killed.wait(60)

    archive.answers["/datasets/NO2.dat"] = [stop_half_way]
    process = subprocess.Popen(FETCH)
    assert under_way.wait(60)
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    killed.set()
    assert not cache.exists() or os.listdir(cache) == []
