#!/usr/bin/env python3
"""Makes the images of this folder, and beside each what Pillow makes of it.

The tests hold decoder and resize to Pillow, with which most published features were
made. Written with Pillow 9.4.0 (libjpeg-turbo 2.1.5); run it in this folder.
"""
import math

from PIL import Image


def picture(w, h):
    """Smooth colours with a sharp edge and fine stripes."""
    im = Image.new("RGB", (w, h))
    for y in range(h):
        for x in range(w):
            r = 128 + 100 * math.sin(x / 5) * math.cos(y / 7)
            g = 255 * ((x * 3 + y) % 11) / 10
            b = 230 if x + y > (w + h) / 2 else 30 + x % 40
            im.putpixel((x, y), (int(r), int(g), int(b)))
    return im


def upsampling():
    for name, code in ("420", 2), ("422", 1), ("444", 0):
        for suffix, progressive in ("", False), ("-progressive", True):
            path = f"chroma{name}{suffix}.jpg"
            picture(37, 23).save(path, quality=90, subsampling=code, progressive=progressive)
            Image.open(path).convert("RGB").save(path[:-4] + ".png")


def cmyk():
    picture(20, 14).convert("CMYK").save("cmyk.jpg", quality=95)
    Image.open("cmyk.jpg").convert("RGB").save("cmyk.png")


def grey():
    picture(21, 13).convert("L").save("grey.jpg", quality=90)
    Image.open("grey.jpg").convert("RGB").save("grey.png")


def resize():
    # Shorter side 40, longer rounded, crop 32 rounded down: see Preprocessing.
    for w, h in (150, 101), (23, 31), (97, 40):
        im = picture(w, h)
        im.save(f"size{w}x{h}.png")
        short = min(w, h)
        rw, rh = (40 * w * 2 + short) // (2 * short), (40 * h * 2 + short) // (2 * short)
        left, top = (rw - 32) // 2, (rh - 32) // 2
        im.resize((rw, rh), Image.BILINEAR).crop((left, top, left + 32, top + 32)).save(f"size{w}x{h}.crop.png")


if __name__ == "__main__":
    upsampling()
    cmyk()
    grey()
    resize()
