"""Real sessions of boto3 and aiobotocore whose requests to DynamoDB are answered in this process, without a socket."""

from typing import TYPE_CHECKING

import boto3

from keyplan.engine.client.in_process import ACCESS_KEY, aiobotocore_response, answer_events
from keyplan.engine.executor import Executor

if TYPE_CHECKING:
    from aiobotocore.session import AioSession


def boto3_session(database: Executor, region_name: str) -> boto3.Session:
    """Return a session whose DynamoDB and DynamoDB Streams clients and resources talk to the database."""
    made = boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=ACCESS_KEY, region_name=region_name)
    answer_events(made.events, database)
    return made


def aiobotocore_session(database: Executor, region_name: str) -> "AioSession":
    """Return a session whose DynamoDB and DynamoDB Streams clients talk to the database."""
    try:
        from aiobotocore.session import AioSession
    except ImportError:
        raise ModuleNotFoundError(
            "aiobotocore isn't installed. Run: pip install 'keyplan[aio]'", name="aiobotocore"
        ) from None
    made = AioSession()
    made.set_credentials(ACCESS_KEY, ACCESS_KEY)
    made.set_config_variable("region", region_name)
    answer_events(made.get_component("event_emitter"), database, aiobotocore_response())
    return made
