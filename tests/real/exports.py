#!/usr/bin/env python3
"""Checks `smgate export cyclonedx` and `export nfd` of real files with the published schema and a YAML reader.

    pip install 'cyclonedx-python-lib[json-validation]' jsonschema pyyaml
    exports.py SMGATE INPUT...

The validator of cyclonedx-python-lib carries the schema of CycloneDX 1.6 with those of SPDX and JSF; the schema of NFD's
specification is testdata/schemas/nfd-image-compatibility-v1alpha1.json.
"""
import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]
NFD = json.loads((ROOT / "testdata/schemas/nfd-image-compatibility-v1alpha1.json").read_text())


def export(smgate, form, *arguments):
    run = subprocess.run([smgate, "export", form, *arguments], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3):
        sys.exit(f"{form} {arguments}: exit {run.returncode}: {run.stderr}")
    return run.stdout


def main(smgate, inputs):
    bad = 0
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for source in inputs:
        arguments = ["--inventory", source] if source.endswith(".json") else [source]
        error = validator.validate_str(export(smgate, "cyclonedx", *arguments))
        if error:
            bad += 1
            print(f"{source}: cyclonedx: {error}")
        for document in yaml.safe_load_all(export(smgate, "nfd", *arguments)):
            for error in jsonschema.Draft202012Validator(NFD).iter_errors(document):
                bad += 1
                print(f"{source}: nfd: {error.message}")
        print(f"{source}: {export(smgate, 'require-cuda', '--value', *arguments).strip()}")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], sys.argv[2:]) else 0)
