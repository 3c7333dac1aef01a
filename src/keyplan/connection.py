"""Which DynamoDB a command opens: a file, an endpoint or AWS, by `KEYPLAN_*` in the environment or in `.env`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Connection(BaseSettings):
    """The settings that name a DynamoDB. Commands overrule them with their options."""

    model_config = SettingsConfigDict(
        env_prefix="KEYPLAN_", env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    path: Path = Field(default=Path("keyplan.db"), description="The file with the data, for the embedded DynamoDB.")
    durability: Literal["normal", "full"] = Field(
        default="normal", description="`full`: writes survive a power loss, too."
    )
    endpoint_url: str | None = Field(default=None, description="A DynamoDB endpoint to use instead of a file.")
    aws: bool = Field(default=False, description="Use DynamoDB on AWS, with AWS's usual variables, instead of a file.")
    tables: dict[str, str] = Field(default={}, description="What a name in braces in a table's name stands for.")

    @model_validator(mode="after")
    def _check_one_dynamodb(self) -> Self:
        if self.aws and self.endpoint_url:
            raise ValueError("aws and endpoint_url exclude each other")
        return self

    @property
    def embedded(self) -> bool:
        """Whether the data is in a file of ours."""
        return not self.aws and self.endpoint_url is None

    def table_environment(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """What the names in tables' names stand for: a variable of that name in capitals, unless `tables` says it."""
        return {name.lower(): value for name, value in environ.items() if value} | self.tables
