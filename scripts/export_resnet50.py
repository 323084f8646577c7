#!/usr/bin/env python3
"""Writes torchvision's ResNet-50 without its last layer as an ONNX file, for `ssdl features`.

    scripts/export_resnet50.py [--out resnet50.onnx]

Needs, in exactly these versions (others warn: the file may differ in its bytes):

    pip install torch==2.5.1 torchvision==0.20.1 onnx==1.17.0
    pip install onnxruntime==1.20.1      # optional: compares the file with torch

Input `input`, float32 [batch, 3, 224, 224]: RGB in 0..1, minus the ImageNet mean, divided by
its standard deviation. Output `features`, float32 [batch, 2048]: the global average pool.
Opset 13, any batch size.

The weights are IMAGENET1K_V1 (ImageNet-val top-1 76.13 %), which were trained for images with
the shorter side at 256 and a centre crop of 224, as `ssdl features` makes them;
IMAGENET1K_V2 expects 232 instead of 256. torchvision's network has the stride of a stage in
its 3x3 convolution ("v1.5"), the original ResNet-50 in the first 1x1 convolution. Features
made with another ResNet-50 (meta.json of a set says which) are therefore alike in kind but not
equal in their numbers. The paper does not say which weights it used.

torchvision downloads the weights (98 MB) and verifies their hash.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import warnings

VERSIONS = {"torch": "2.5.1", "torchvision": "0.20.1", "onnx": "1.17.0"}
OPSET = 13
FEATURES = 2048
TOLERANCE = 1e-3  # of the largest feature, between torch and ONNX Runtime

try:
    import onnx
    import torch
    import torchvision
    from torchvision.models import ResNet50_Weights, resnet50
except ImportError as err:
    wanted = " ".join(f"{name}=={version}" for name, version in VERSIONS.items())
    sys.exit(f"export_resnet50.py: {err}. Install what it needs: pip install {wanted}")


def check_versions():
    for module in (torch, torchvision, onnx):
        have = module.__version__.split("+")[0]  # 2.5.1+cpu is 2.5.1
        want = VERSIONS[module.__name__]
        if have != want:
            print(f"export_resnet50.py: {module.__name__} is {have}, the stated version is {want}; "
                  "the file may differ in its bytes", file=sys.stderr)


def feature_network():
    weights = ResNet50_Weights.IMAGENET1K_V1
    network = resnet50(weights=None)
    network.load_state_dict(weights.get_state_dict(progress=True, check_hash=True))
    network.fc = torch.nn.Identity()
    return network.eval(), weights


def export(network, weights, path):
    example = torch.zeros(1, 3, 224, 224)
    torch.onnx.export(
        network, example, path,
        input_names=["input"], output_names=["features"],
        dynamic_axes={"input": {0: "batch"}, "features": {0: "batch"}},
        opset_version=OPSET, do_constant_folding=True, dynamo=False,
    )
    model = onnx.load(path)
    notes = {
        "weights": f"torchvision ResNet50_Weights.{weights.name}",
        "weights_url": weights.url,
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
    }
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def compare(network, path):
    """Prints the difference of ONNX Runtime from torch on the same input, if it is installed."""
    try:
        import onnxruntime
    except ImportError:
        print("onnxruntime is not installed: the file was not compared with torch", file=sys.stderr)
        return
    torch.manual_seed(1000)
    images = torch.randn(3, 3, 224, 224)
    with torch.no_grad():
        want = network(images).numpy()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    have = session.run(["features"], {"input": images.numpy()})[0]
    if have.shape != (3, FEATURES):
        sys.exit(f"export_resnet50.py: the output has the shape {have.shape}, expected (3, {FEATURES})")
    apart = abs(have - want).max() / abs(want).max()
    if not apart <= TOLERANCE:
        sys.exit(f"export_resnet50.py: ONNX Runtime and torch are {apart:.2g} of the largest feature apart, "
                 f"more than {TOLERANCE}; nothing was written")
    print(f"ONNX Runtime {onnxruntime.__version__} is within {apart:.2g} of the largest feature of torch")


def main():
    parser = argparse.ArgumentParser(description="Writes torchvision's ResNet-50 without its last layer as an ONNX file.")
    parser.add_argument("--out", default="resnet50.onnx", help="the file to write (default: resnet50.onnx)")
    out = os.path.abspath(parser.parse_args().out)

    check_versions()
    network, weights = feature_network()
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(out), suffix=".onnx")
    os.close(handle)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category=DeprecationWarning)
            export(network, weights, temporary)
        compare(network, temporary)
        os.chmod(temporary, 0o644)
        with open(temporary, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        size = os.path.getsize(temporary)
        os.replace(temporary, out)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    print(f"{out}: {size} bytes, SHA-256 {digest}")


if __name__ == "__main__":
    main()
