"""moto_test.py PROGRAM: S3 as moto plays it, with its check of signatures switched on.

PROGRAM (moto_program.cpp) reads objects whose keys need encoding, listed over several pages; with
credentials from variables, from a profile, and with a session token. Then it fails in the ways that
users see, and says so without a secret. Skipped where moto[server] and boto3 are not installed.

moto compares with what botocore would have signed, but takes the path after it was decoded: then
botocore's own requests for "a/" or "+" fail, too. Here it gets the path as it was sent.
"""

import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import boto3
    import flask
    import requests
    from moto.iam.access_control import IAMRequestBase
    from moto.server import ThreadedMotoServer
except ImportError as missing:
    print("[feedline skip] needs moto[server] and boto3 (pip install 'moto[server]' boto3): "
          f"{missing}")
    sys.exit(0)

PROGRAM = sys.argv[1]
FILES, ROWS = 3, 40
REGION = "eu-central-1"


def npy(first):
    """ROWS rows of 1000 bytes, as numpy.save writes them."""
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({ROWS}, 1000), }}"
    head += " " * (117 - len(head)) + "\n"
    rows = b"".join(bytes((row * 31 + i) % 251 for i in range(1000))
                    for row in range(first, first + ROWS))
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + rows


def run(environment, bucket="bucket.with-dots"):
    """Return code and words of the program."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run([PROGRAM, bucket, str(FILES * ROWS)], env=clean | environment,
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def require(holds, what, said):
    if not holds:
        sys.exit(f"moto_test: {what}; the program said: {said}")


compare = IAMRequestBase.__init__


def compare_as_sent(self, *given, path, **named):
    compare(self, *given, path=flask.request.environ["RAW_URI"], **named)


IAMRequestBase.__init__ = compare_as_sent
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"
made = {"endpoint_url": endpoint, "region_name": REGION}
first = {"aws_access_key_id": "first", "aws_secret_access_key": "first"}

iam = boto3.client("iam", **made, **first)
iam.create_user(UserName="reader")
policy = ('{"Version": "2012-10-17", '
          '"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}')
iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=policy)
key = iam.create_access_key(UserName="reader")["AccessKey"]
KEY_ID, SECRET = key["AccessKeyId"], key["SecretAccessKey"]
role = iam.create_role(RoleName="role", AssumeRolePolicyDocument=policy)["Role"]["Arn"]
iam.put_role_policy(RoleName="role", PolicyName="all", PolicyDocument=policy)
lent = boto3.client("sts", **made, **first).assume_role(
    RoleArn=role, RoleSessionName="test")["Credentials"]

s3 = boto3.client("s3", **made, **first)
s3.create_bucket(Bucket="bucket.with-dots",
                 CreateBucketConfiguration={"LocationConstraint": REGION})
for number in range(FILES):
    s3.put_object(Bucket="bucket.with-dots", Key=f"some folder+%/p\u00e4rt-{number}.npy",
                  Body=npy(number * ROWS), ChecksumAlgorithm=("SHA256", "CRC32", "SHA1")[number])
for number in range(1100):  # more than a page
    s3.put_object(Bucket="bucket.with-dots", Key=f"some folder+%/a-{number}", Body=b"")

# From here on moto checks every signature.
requests.post(f"{endpoint}/moto-api/reset-auth", data="0", timeout=10).raise_for_status()

place = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": REGION}
keys = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}
code, said = run(place | keys)
require(code == 0, "objects are not read with credentials of variables", said)

session = {"AWS_ACCESS_KEY_ID": lent["AccessKeyId"],
           "AWS_SECRET_ACCESS_KEY": lent["SecretAccessKey"],
           "AWS_SESSION_TOKEN": lent["SessionToken"]}
code, said = run(place | session)
require(code == 0, "objects are not read with a session token", said)

with tempfile.TemporaryDirectory() as home:
    (Path(home) / ".aws").mkdir()
    (Path(home) / ".aws" / "credentials").write_text(
        f"[work]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n")
    (Path(home) / ".aws" / "config").write_text(f"[profile work]\nregion = {REGION}\n")
    code, said = run({"AWS_ENDPOINT_URL": endpoint, "HOME": home, "AWS_PROFILE": "work"})
    require(code == 0, "objects are not read with a profile", said)

code, said = run(place | keys | {"AWS_SECRET_ACCESS_KEY": "wrong-secret"})
require(code == 1 and "403" in said and "SignatureDoesNotMatch" in said,
        "a wrong secret is not refused", said)
for secret in (SECRET, "wrong-secret", KEY_ID):
    require(secret not in said, "a secret is shown", said)
code, said = run(place | keys, bucket="no-such-bucket")
require(code == 1 and "NoSuchBucket" in said, "a missing bucket is not told", said)
server.stop()
print("moto_test: S3 as moto plays it is read, and refuses what it should")
