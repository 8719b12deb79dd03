#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the sample files of test_picture into pictures/.

The numbers are those of sample8, sample16 and alpha8 below; the test states them again. PNG, BMP,
PNM and the EXIF block are written by hand, GIF and JPEG by Pillow.
"""
import io
import os
import struct
import zlib

from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
W, H = 13, 9


def sample8(x, y, c):
    return (x * 17 + y * 29 + c * 71 + x * y * 5) % 256


def sample16(x, y, c):
    return (x * 4099 + y * 7919 + c * 20011 + x * y * 257) % 65536


def alpha8(x, y):
    return (x * 23 + y * 41) % 256


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data) & 0xFFFFFFFF))


def png(w, h, depth, color, rows, extra=b"", interlace=0):
    """rows: byte strings without the filter byte."""
    raw = b"".join(b"\0" + row for row in rows)
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, interlace)) + extra
            + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def adam7_rows(w, h, channels, value, bits):
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
              (0, 1, 1, 2))
    form = ">H" if bits == 16 else ">B"
    return [b"".join(struct.pack(form, value(x, y, c)) for x in range(x0, w, dx)
                     for c in range(channels))
            for x0, y0, dx, dy in passes if x0 < w for y in range(y0, h, dy)]


def rows_of(w, h, channels, value, bits=8):
    form = ">H" if bits == 16 else ">B"
    return [b"".join(struct.pack(form, value(x, y, c)) for x in range(w) for c in range(channels))
            for y in range(h)]


def with_alpha(value, colors, alpha):
    return lambda x, y, c: value(x, y, c) if c < colors else alpha(x, y)


def write_png():
    alpha16 = lambda x, y: sample16(x, y, 3)
    write("grey8.png", png(W, H, 8, 0, rows_of(W, H, 1, sample8)))
    write("greya8.png", png(W, H, 8, 4, rows_of(W, H, 2, with_alpha(sample8, 1, alpha8))))
    write("rgb8.png", png(W, H, 8, 2, rows_of(W, H, 3, sample8)))
    write("rgba8.png", png(W, H, 8, 6, rows_of(W, H, 4, with_alpha(sample8, 3, alpha8))))
    write("grey16.png", png(W, H, 16, 0, rows_of(W, H, 1, sample16, 16)))
    write("greya16.png", png(W, H, 16, 4, rows_of(W, H, 2, with_alpha(sample16, 1, alpha16), 16)))
    write("rgb16.png", png(W, H, 16, 2, rows_of(W, H, 3, sample16, 16)))
    write("rgba16.png", png(W, H, 16, 6, rows_of(W, H, 4, with_alpha(sample16, 3, alpha16), 16)))
    write("interlaced16.png", png(W, H, 16, 6, adam7_rows(
        W, H, 4, with_alpha(sample16, 3, alpha16), 16), interlace=1))
    # the very colours of rgb8.png in 16 bits
    write("rgb8as16.png", png(W, H, 16, 2,
                              rows_of(W, H, 3, lambda x, y, c: sample8(x, y, c) * 257, 16)))
    # 1,000 levels, 37 apart
    write("ramp16.png", png(1000, 1, 16, 0, rows_of(1000, 1, 1, lambda x, y, c: 37 * x, 16)))
    write("grey128.png", png(1, 1, 8, 0, [b"\x80"]))
    # palette: entry p is sample8(p, 0, c); pixel (x, y) uses entry (x + 2 y) % 16
    palette = bytes(sample8(p, 0, c) for p in range(16) for c in range(3))
    index = lambda x, y, c: (x + 2 * y) % 16
    write("palette8.png", png(W, H, 8, 3, rows_of(W, H, 1, index), chunk(b"PLTE", palette)))
    nibbles = [bytes(index(x, y, 0) << 4 | (index(x + 1, y, 0) if x + 1 < W else 0)
                     for x in range(0, W, 2)) for y in range(H)]
    write("palette4.png", png(W, H, 4, 3, nibbles, chunk(b"PLTE", palette)
                              + chunk(b"tRNS", bytes(alpha8(p, 0) for p in range(16)))))
    for w, h in ((1, 1), (1, 6), (6, 1), (2, 2)):
        write("rgb8_%dx%d.png" % (w, h), png(w, h, 8, 2, rows_of(w, h, 3, sample8)))
    # one pixel, and sixteen million more bytes
    write("bomb.png", png(1, 1, 8, 0, [bytes(1 << 24)]))
    # a header that promises far more than anyone wants to see
    write("huge.png", b"\x89PNG\r\n\x1a\n"
          + chunk(b"IHDR", struct.pack(">IIBBBBB", 70000, 70000, 8, 2, 0, 0, 0))
          + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b""))


def write_bmp():
    def bmp(height, bits, palette, rows):
        data = b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
        start = 14 + 40 + len(palette)
        return (b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start)
                + struct.pack("<IiiHHIIiiII", 40, W, height, 1, bits, 0, len(data), 2835, 2835,
                              len(palette) // 4, 0) + palette + data)

    bgr = [b"".join(bytes(sample8(x, y, c) for c in (2, 1, 0)) for x in range(W))
           for y in range(H)]
    write("rgb8.bmp", bmp(H, 24, b"", bgr[::-1]))
    write("rgb8_topdown.bmp", bmp(-H, 24, b"", bgr))
    palette = b"".join(bytes(sample8(p, 0, c) for c in (2, 1, 0)) + b"\0" for p in range(16))
    write("palette8.bmp", bmp(H, 8, palette, [bytes((x + 2 * y) % 16 for x in range(W))
                                              for y in range(H)][::-1]))


def write_pnm():
    grey = b"".join(rows_of(W, H, 1, sample8))
    write("grey8.pgm", b"P5\n# a comment\n%d %d\n255\n" % (W, H) + grey)
    write("rgb8.ppm", b"P6 %d %d 255\n" % (W, H) + b"".join(rows_of(W, H, 3, sample8)))
    write("rgb16.ppm", b"P6\n%d %d\n65535\n" % (W, H) + b"".join(rows_of(W, H, 3, sample16, 16)))
    write("grey100.pgm", b"P5 %d %d 100\n" % (W, H) + bytes(v % 101 for v in grey))


def write_gif():
    image = Image.new("P", (W, H))
    image.putpalette([sample8(p, 0, c) for p in range(16) for c in range(3)])
    image.putdata([(x + 2 * y) % 16 for y in range(H) for x in range(W)])
    for name, options in (("palette8.gif", {}), ("transparent.gif", {"transparency": 5})):
        out = io.BytesIO()
        image.save(out, "GIF", optimize=False, interlace=False, **options)
        write(name, out.getvalue())


# Six flat 8x8 blocks: upright 24x16, colour of block (bx, by).
BLOCKS = [[(220, 40, 40), (40, 200, 60), (40, 60, 210)],
          [(240, 220, 60), (30, 30, 30), (230, 230, 230)]]


def exif(orientation, big_endian):
    order = ">" if big_endian else "<"
    tiff = ((b"MM" if big_endian else b"II") + struct.pack(order + "HI", 42, 8)
            + struct.pack(order + "HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 0))
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def jpeg(image, orientation=None, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=95, **options)
    data = out.getvalue()
    if orientation is None:
        return data
    return data[:2] + exif(orientation, orientation % 2 == 1) + data[2:]


def write_jpeg():
    upright = Image.new("RGB", (24, 16))
    for y in range(16):
        for x in range(24):
            upright.putpixel((x, y), BLOCKS[y // 8][x // 8])
    t = Image.Transpose
    # What a viewer does for tag k (EXIF 2.3, 4.6.4) undone: the file stores this.
    undo = {1: None, 2: t.FLIP_LEFT_RIGHT, 3: t.ROTATE_180, 4: t.FLIP_TOP_BOTTOM, 5: t.TRANSPOSE,
            6: t.ROTATE_90, 7: t.TRANSVERSE, 8: t.ROTATE_270}
    for tag, operation in undo.items():
        stored = upright.transpose(operation) if operation is not None else upright
        write("orientation%d.jpg" % tag, jpeg(stored, tag, subsampling=0))
    write("orientation9.jpg", jpeg(upright, 9, subsampling=0))
    write("progressive.jpg", jpeg(upright, progressive=True, subsampling=2))
    write("grey.jpg", jpeg(upright.convert("L")))


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    write_png()
    write_bmp()
    write_pnm()
    write_gif()
    write_jpeg()
