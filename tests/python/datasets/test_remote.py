"""Each function that opens files opens addresses, too."""

import functools
import http.server
import os
import pickle
import shutil
import ssl
import subprocess
import sys
import threading

import numpy as np
import pytest

import feedline

pytestmark = pytest.mark.skipif(
    not feedline.build_info()["remote"], reason="built without libcurl and pugixml"
)


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves the ranges of files that are asked for, as feedline needs it."""

    def do_GET(self):
        try:
            with open(self.translate_path(self.path), "rb") as file:
                whole = file.read()
        except OSError:  # a folder, or nothing
            self.send_error(404)
            return
        begin, end = (int(each) for each in self.headers["Range"].partition("=")[2].split("-"))
        part = whole[begin : end + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{begin + len(part) - 1}/{len(whole)}")
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", '"one"')
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *words):
        pass


@pytest.fixture
def served(tmp_path):
    make = functools.partial(Ranges, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield tmp_path, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_functions_of_single_formats_take_addresses(served):
    folder, address = served
    values = np.arange(60, dtype=np.float32).reshape(20, 3)
    np.save(folder / "x.npy", values)
    opened = feedline.open_npy(f"{address}/x.npy", "x")
    assert (opened.read([3, 19])["x"] == values[[3, 19]]).all()


def test_images_with_boxes_are_read_from_addresses(served):
    pytest.importorskip("PIL")
    from PIL import Image

    folder, address = served
    if not feedline.build_info()["png"]:
        pytest.skip("built without libpng")
    pixels = np.full((6, 5, 3), 77, np.uint8)
    Image.fromarray(pixels).save(folder / "1.png")
    image = feedline.AnnotatedImage(f"{address}/1.png", [(1, 1, 4, 4)], [0], id=1)
    made = feedline.make_annotated_dataset(
        [image], image=feedline.ImageOptions(height=6, width=5)
    )
    assert (made.dataset.read([0])["image"][0] == pixels).all()
    image = feedline.AnnotatedImage(f"{address}/none/1.png", [], [], id=1)
    with pytest.raises(feedline.DatasetError, match="there is no such file, for image 1"):
        feedline.make_annotated_dataset([image])


def test_requests_are_counted_and_manifests_stand_in_for_openings(served):
    folder, address = served
    np.save(folder / "x.npy", np.arange(60, dtype=np.float32).reshape(20, 3))
    before = feedline.remote_counts()
    manifest = str(folder / "manifest.jsonl")
    assert feedline.write_manifest(manifest, [f"{address}/x.npy"]) == 1
    after = feedline.remote_counts()
    # An answer that came at once is not waited for.
    assert after.requests > before.requests and after.waits >= before.waits
    assert after.wait_time >= before.wait_time and "requests" in str(after)
    feedline.mount_manifest(manifest)
    assert feedline.open(f"{address}/*.npy").read([7])["x"][0, 0] == 21
    with pytest.raises(feedline.DatasetError, match="line 1 of the manifest"):
        (folder / "bad.jsonl").write_text("{}\n")
        feedline.mount_manifest(str(folder / "bad.jsonl"))


def test_options_are_set_and_checked(served):
    folder, address = served
    np.save(folder / "x.npy", np.zeros((20, 3)))
    try:
        feedline.mount_remote_files(deadline=20.0, s3_region="eu-3", read_ahead_bytes=0,
                                    direct_connections=False)
        opened = pickle.loads(pickle.dumps(feedline.open(f"{address}/x.npy")))
        assert len(opened) == 20
        loader = feedline.Loader(opened, batch_size=10)
        assert loader.plan().far_request_bytes == 640 << 10
        assert "0.6 MiB asked of other machines at a time" in str(loader.plan())
        with pytest.raises(feedline.UsageError, match="max_in_flight is 0; it is 1 to 16384"):
            feedline.mount_remote_files(max_in_flight=0)
    finally:
        feedline.mount_remote_files()


def test_downloads_are_planned(served, tmp_path_factory):
    folder, address = served
    values = np.arange(200_000, dtype=np.float32).reshape(1000, 200)
    np.save(folder / "x.npy", values)
    plan = feedline.Loader(feedline.open(f"{address}/x.npy"), batch_size=10).plan_downloads()
    assert plan.is_known and plan.needed_bytes == plan.epoch_bytes == values.nbytes
    assert plan.later_with_whole == 0 and "epoch 0 downloads 800.0 kB" in str(plan)
    cache = tmp_path_factory.mktemp("cache")
    try:
        feedline.mount_remote_files(cache_folder=str(cache), cache_folder_bytes=1 << 24,
                                    cache_block_bytes=1 << 16)
        opened = feedline.open(f"{address}/x.npy")
        assert (opened.read(list(range(1000)))["x"] == values).all()
        loader = feedline.Loader(opened, batch_size=10)
        assert loader.plan_downloads().epoch_bytes < values.nbytes // 10
        seen = loader.statistics().downloads
        assert not seen.is_known or seen.epoch == 0
    finally:
        feedline.mount_remote_files()
    in_memory = feedline.make_memory_dataset({"x": values})
    assert not feedline.Loader(in_memory).plan_downloads().is_known


def test_a_cache_serves_what_was_read_before(served, tmp_path_factory):
    folder, address = served
    values = np.arange(200_000, dtype=np.float32).reshape(1000, 200)
    np.save(folder / "x.npy", values)
    cache = tmp_path_factory.mktemp("cache")
    try:
        feedline.mount_remote_files(cache_folder=str(cache), cache_folder_bytes=1 << 24,
                                    cache_block_bytes=1 << 16)
        opened = feedline.open(f"{address}/x.npy")
        assert (opened.read(list(range(1000)))["x"] == values).all()
        before = feedline.remote_counts()
        assert before.bytes >= values.nbytes
        assert (opened.read(list(range(0, 1000, 7)))["x"] == values[::7]).all()
        after = feedline.remote_counts()
        assert after.bytes == before.bytes
        assert after.cache.stored > 0
        assert after.cache.folder_bytes > before.cache.folder_bytes
        assert after.cache.damaged == before.cache.damaged
        with pytest.raises(feedline.UsageError, match="give the bytes that the folder may take"):
            feedline.mount_remote_files(cache_folder=str(cache))
    finally:
        feedline.mount_remote_files()


def test_certificates_are_checked_against_those_of_a_variable(tmp_path):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl, which makes a certificate")
    key, own = tmp_path / "key.pem", tmp_path / "own.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key,
                    "-out", own, "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    np.save(tmp_path / "x.npy", np.zeros((20, 3)))
    serve = functools.partial(Ranges, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    code = f"import feedline; feedline.open('https://localhost:{server.server_port}/x.npy')"
    try:
        for trusted, words in (("", "certificate is not trusted"), (str(own), "")):
            done = subprocess.run([sys.executable, "-c", code], check=False, text=True, timeout=60,
                                  env=os.environ | {"SSL_CERT_FILE": trusted}, capture_output=True)
            assert (done.returncode == 0) == (words == "") and words in done.stderr, done.stderr
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
