"""What every test may rely on: no AWS account, no network, no deadline on a busy machine."""

import os

from hypothesis import HealthCheck, settings

# boto3 and the AWS CLI would otherwise look for a profile, or ask the metadata service of a cloud machine.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
)

# Two shared cores make a per-example deadline a coin toss.
settings.register_profile("keyplan", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("keyplan")
