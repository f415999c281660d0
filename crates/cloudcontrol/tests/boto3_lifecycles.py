"""Takes objects through their lifecycle with boto3: create, get, list, update, delete.

Usage: boto3_lifecycles.py ENDPOINT < cases.json

The cases are a list of {"type", "desired", "patch", "inputs"}: the documents of the object, and the properties that a list of its
type needs; null for a type that cannot be listed. Prints one JSON line for each case: {"type", "steps", "error"}.
"""

import concurrent.futures
import json
import sys
import time

import boto3
from botocore.config import Config

STEPS = ["create", "get", "list", "update", "delete"]


def wait(client, event):
    while event["OperationStatus"] in ("PENDING", "IN_PROGRESS"):
        time.sleep(0.01)
        event = client.get_resource_request_status(RequestToken=event["RequestToken"])["ProgressEvent"]
    if event["OperationStatus"] != "SUCCESS":
        raise RuntimeError(event.get("StatusMessage", event["OperationStatus"]))
    return event


def lifecycle(client, case, steps):
    name = case["type"]
    desired = json.dumps(case["desired"])
    identifier = wait(client, client.create_resource(TypeName=name, DesiredState=desired)["ProgressEvent"])["Identifier"]
    steps.append("create")

    found = client.get_resource(TypeName=name, Identifier=identifier)["ResourceDescription"]
    if found["Identifier"] != identifier or not isinstance(json.loads(found["Properties"]), dict):
        raise RuntimeError(f"get returns {found}")
    steps.append("get")

    known = {**case["desired"], **json.loads(found["Properties"])}
    # Some types are listed by properties that this object does not have.
    if case["inputs"] is not None and all(name in known for name in case["inputs"]):
        inputs = {name: known[name] for name in case["inputs"]}
        model = {"ResourceModel": json.dumps(inputs)} if inputs else {}
        pages = client.get_paginator("list_resources").paginate(TypeName=name, **model)
        listed = [one["Identifier"] for page in pages for one in page["ResourceDescriptions"]]
        if identifier not in listed:
            raise RuntimeError(f"list returns {listed}")
    steps.append("list")

    if case["patch"]:
        patch = json.dumps(case["patch"])
        wait(client, client.update_resource(TypeName=name, Identifier=identifier, PatchDocument=patch)["ProgressEvent"])
    steps.append("update")

    wait(client, client.delete_resource(TypeName=name, Identifier=identifier)["ProgressEvent"])
    try:
        client.get_resource(TypeName=name, Identifier=identifier)
        raise RuntimeError("the object is still there")
    except client.exceptions.ResourceNotFoundException:
        steps.append("delete")


def run(client, case):
    steps = []
    try:
        lifecycle(client, case, steps)
        return {"type": case["type"], "steps": steps, "error": None}
    except Exception as problem:  # Every failure is a result of the test.
        return {"type": case["type"], "steps": steps, "error": f"{type(problem).__name__}: {problem}"}


def main():
    client = boto3.client(
        "cloudcontrol",
        endpoint_url=sys.argv[1],
        region_name="eu-central-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"max_attempts": 1}, max_pool_connections=8),
    )
    cases = json.load(sys.stdin)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda case: run(client, case), cases):
            print(json.dumps(result))


if __name__ == "__main__":
    main()
