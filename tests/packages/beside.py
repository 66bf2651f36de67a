"""beside.py MODULE...: feedline reads right beside other libraries, whichever comes first.

Each order of imports is tried in a process of its own: the libraries have code of HDF5, libjpeg,
libpng, zlib and Zstandard, too, in other versions, and neither may call the other's.
"""

import random
import subprocess
import sys
import tempfile

USE = """
import importlib, sys
import numpy as np
folder, modules = sys.argv[1], sys.argv[2:]
loaded = {name: importlib.import_module(name) for name in modules}
feedline = loaded["feedline"]
wanted = np.arange(4000, dtype=np.float32).reshape(1000, 4)

def h5():
    batch = next(iter(feedline.Loader(feedline.open(folder + "/x.h5"), batch_size=1000)))
    assert (batch["x"].numpy() == wanted).all()
    del batch
    if "h5py" in loaded:
        with loaded["h5py"].File(folder + "/x.h5") as file:
            assert (file["x"][:] == wanted).all()
        try:
            loaded["h5py"].File(folder + "/none.h5")
        except OSError:
            pass

def images():
    found, _ = feedline.open_image_folder(folder + "/images")
    for batch in feedline.Loader(found, batch_size=1):
        pixels = batch["image"].numpy()[0]
        assert abs(pixels.astype(int) - 90).max() <= 2, pixels
    if "cv2" in loaded:
        assert abs(loaded["cv2"].imread(folder + "/images/a/0.jpg").astype(int) - 90).max() <= 2
    if "PIL.Image" in loaded:
        assert loaded["PIL.Image"].open(folder + "/images/a/1.png").getpixel((3, 3)) == (90, 90, 90)

def archive():
    found = feedline.open(folder + "/x.npz")
    assert (found.read([3, 999])["x"] == wanted[[3, 999]]).all()
    if "pyarrow" in loaded:
        data = loaded["pyarrow"].compress(b"x" * 9999, codec="zstd", asbytes=True)
        assert len(loaded["pyarrow"].decompress(data, 9999, codec="zstd")) == 9999
    if "jax.numpy" in loaded:
        assert float(loaded["jax.numpy"].ones(3).sum()) == 3
    if "torch" in loaded:
        assert float((loaded["torch"].ones(2, 2) @ loaded["torch"].ones(2, 2)).sum()) == 8

def error():
    try:
        feedline.open(folder + "/none.h5")
    except feedline.Error:
        return
    raise AssertionError("a file that is not there was opened")

for work in (h5, images, archive, error) * 2:
    work()
"""

MAKE = """
import sys
from pathlib import Path
import h5py, numpy as np, PIL.Image
folder = Path(sys.argv[1])
x = np.arange(4000, dtype=np.float32).reshape(1000, 4)
with h5py.File(folder / "x.h5", "w") as file:
    file.create_dataset("x", data=x, chunks=(100, 4), compression="gzip", shuffle=True)
np.savez_compressed(folder / "x.npz", x=x)
(folder / "images/a").mkdir(parents=True)
grey = PIL.Image.fromarray(np.full((8, 8, 3), 90, np.uint8))
grey.save(folder / "images/a/0.jpg")
grey.save(folder / "images/a/1.png")
"""


def main(modules):
    orders = [[other, "feedline"] for other in modules]
    orders += [["feedline", other] for other in modules]
    for seed in range(4):
        order = ["feedline", *modules]
        random.Random(seed).shuffle(order)
        orders.append(order)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", MAKE, folder], check=True, timeout=300)
        for order in orders:
            ran = subprocess.run(
                [sys.executable, "-c", USE, folder, *order], cwd="/", timeout=300, check=False
            )
            print(f"beside.py: {'passed' if ran.returncode == 0 else 'FAILED'}: {' '.join(order)}")
            if ran.returncode != 0:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
