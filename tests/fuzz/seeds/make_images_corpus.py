#!/usr/bin/env python3
"""Writes the seed corpora of bmp_fuzz, pnm_fuzz, webp_fuzz and tiff_fuzz; needs Pillow:
python3 tests/fuzz/seeds/make_images_corpus.py"""

import io
import pathlib
import random
import struct

from PIL import Image

FOLDER = pathlib.Path(__file__).parent.parent / "corpus"
HEIGHT, WIDTH = 7, 9


def write(kind, name, content):
    (FOLDER / kind).mkdir(parents=True, exist_ok=True)
    (FOLDER / kind / name).write_bytes(content)


def image(mode, draw):
    """Smooth, with some noise."""
    channels = len(Image.new(mode, (1, 1)).getbands())
    values = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            values += bytes(20 * x + 9 * y + draw.randrange(9) for _ in range(channels))
    return Image.frombytes(mode, (WIDTH, HEIGHT), bytes(values))


def encoded(picture, format, **how):
    file = io.BytesIO()
    picture.save(file, format, **how)
    return file.getvalue()


def bmps(draw):
    for name, mode in {"rgb": "RGB", "rgba": "RGBA", "grey": "L"}.items():
        write("bmp", name, encoded(image(mode, draw), "BMP"))
    whole = encoded(image("RGB", draw), "BMP")
    write("bmp", "from_above", whole[:22] + struct.pack("<i", -HEIGHT) + whole[26:])
    write("bmp", "cut", whole[:-1])
    write("bmp", "wide", whole[:18] + struct.pack("<I", 1 << 31) + whole[22:])
    masks = whole[:14] + struct.pack("<IIiHHIIIIII", 40, 3, 2, 1, 32, 3, 0, 0, 0, 0, 0)
    masks += struct.pack("<III", 0xFF0000, 0xFF00, 0xFF) + draw.randbytes(24)
    write("bmp", "masks", masks[:10] + struct.pack("<I", 66) + masks[14:])
    palette = encoded(image("L", draw).quantize(5), "BMP")
    write("bmp", "palette", palette)
    write("bmp", "out_of_palette", palette[:-1] + b"\xff")


def pnms(draw):
    values = {"P5": 1, "P6": 3}
    for kind, channels in values.items():
        for most in (1, 255, 1000, 65535):
            count = channels * 12 * (2 if most > 255 else 1)
            write("pnm", f"{kind}_{most}", b"%s 4 3 %d\n" % (kind.encode(), most) +
                  draw.randbytes(count))
    write("pnm", "comment", b"P5\n# a comment\n2 # another\n2\n255\nabcd")
    write("pnm", "cut", b"P6 4 3 255\nabc")
    write("pnm", "huge", b"P5 99999999999 99999999999 255\n")
    write("pnm", "text", b"P3 1 1 255\n1 2 3")


def webps(draw):
    write("webp", "lossy", encoded(image("RGB", draw), "WEBP", quality=60))
    write("webp", "lossless", encoded(image("RGB", draw), "WEBP", lossless=True))
    write("webp", "alpha", encoded(image("RGBA", draw), "WEBP", quality=60))
    whole = encoded(image("RGBA", draw), "WEBP", lossless=True)
    write("webp", "alpha_lossless", whole)
    write("webp", "cut", whole[:-9])
    frames = [image("RGB", draw) for _ in range(2)]
    animated = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:])
    write("webp", "animated", animated)


def tiffs(draw):
    for mode in ("RGB", "RGBA", "L", "I;16", "CMYK", "1"):
        picture = image("L", draw).convert("1") if mode == "1" else None
        if mode == "I;16":
            picture = Image.frombytes(mode, (WIDTH, HEIGHT), draw.randbytes(2 * WIDTH * HEIGHT))
        name = mode.replace(";", "")
        write("tiff", name, encoded(picture or image(mode, draw), "TIFF"))
    for how in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "zstd", "webp"):
        try:
            write("tiff", how, encoded(image("RGB", draw), "TIFF", compression=how))
        except (OSError, RuntimeError):
            continue  # this Pillow's libtiff lacks it
    write("tiff", "palette", encoded(image("RGB", draw).quantize(7), "TIFF"))
    whole = encoded(image("RGB", draw), "TIFF", big_tiff=True)
    write("tiff", "big", whole)
    write("tiff", "cut", whole[:-40])


def main():
    draw = random.Random(1)
    for make in (bmps, pnms, webps, tiffs):
        make(draw)


if __name__ == "__main__":
    main()
