"""What a type checker knows of an engine: the classes of types-boto3 (`pip install keyplan[types]`).

There is no module behind this file: `keyplan.engine.client.methods` makes the methods from botocore's model. Streams
have a client of their own in boto3, so their four operations and two exceptions are added here.
"""

from botocore.exceptions import ClientError
from types_boto3_dynamodb import DynamoDBClient as Client
from types_boto3_dynamodb.client import Exceptions as _Exceptions
from types_boto3_dynamodbstreams.type_defs import (
    DescribeStreamInputTypeDef,
    DescribeStreamOutputTypeDef,
    GetRecordsInputTypeDef,
    GetRecordsOutputTypeDef,
    GetShardIteratorInputTypeDef,
    GetShardIteratorOutputTypeDef,
    ListStreamsInputTypeDef,
    ListStreamsOutputTypeDef,
)
from typing_extensions import Unpack

__all__ = ["Client", "Exceptions", "Methods"]

class Exceptions(_Exceptions):
    ExpiredIteratorException: type[ClientError]
    TrimmedDataAccessException: type[ClientError]

class Methods(Client):
    @property
    def exceptions(self) -> Exceptions: ...
    def describe_stream(self, **kwargs: Unpack[DescribeStreamInputTypeDef]) -> DescribeStreamOutputTypeDef: ...
    def get_records(self, **kwargs: Unpack[GetRecordsInputTypeDef]) -> GetRecordsOutputTypeDef: ...
    def get_shard_iterator(self, **kwargs: Unpack[GetShardIteratorInputTypeDef]) -> GetShardIteratorOutputTypeDef: ...
    def list_streams(self, **kwargs: Unpack[ListStreamsInputTypeDef]) -> ListStreamsOutputTypeDef: ...
