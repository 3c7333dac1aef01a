"""Forums, threads and replies (Developer Guide: the sample tables Forum, Thread and Reply).

Thread has a local index by the time of the last post, Reply a global one by its author.
"""

from datetime import datetime
from typing import Annotated

from keyplan.design import (
    KEYS_ONLY,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Scan,
    Table,
    at_least,
    expect,
    get,
    index,
    key,
    local,
    pattern,
    query,
    scan,
    stored,
)

forums = Table("Forum", key("Name"), case="pascal")
threads = Table(
    "Thread",
    key("ForumName", "Subject"),
    indexes={"LastPostIndex": local("LastPostDateTime", KEYS_ONLY)},
    case="pascal",
)
replies = Table(
    "Reply",
    key("Id", "ReplyDateTime"),
    indexes={"PostedBy-Message-Index": index(key("PostedBy", "Message"), KEYS_ONLY)},
    case="pascal",
)


class Forum(Entity, table=forums, expected=expect(items=50)):
    name: Annotated[str, stored("Name")]
    category: str
    threads: int
    messages: int

    primary = key("{name}")


class Thread(Entity, table=threads, expected=expect(partition=20_000, size=1_500)):
    forum_name: str
    subject: str
    message: str
    last_posted_by: str
    last_post_date_time: datetime
    tags: frozenset[str] = frozenset()

    primary = key("{forum_name}", "{subject}")
    by_last_post = threads.LastPostIndex("{forum_name}", "{last_post_date_time}")


class Reply(Entity, table=replies):
    forum: Id
    thread: Id
    reply_date_time: datetime
    message: Annotated[str, stored("Message")]
    posted_by: Annotated[str, stored("PostedBy")]

    primary = key("{forum}#{thread}", "{reply_date_time}")
    by_author = replies["PostedBy-Message-Index"]("{posted_by}", "{message}")


class Forums(Design):
    tables = (forums, threads, replies)
    entities = (Forum, Thread, Reply)

    @pattern("All forums")
    def forums(self) -> Scan[Forum]:
        return scan(Forum)

    @pattern("Get a thread")
    def thread(self, forum_name: str, subject: str) -> Get[Thread]:
        return get(Thread, forum_name=forum_name, subject=subject)

    @pattern("Threads of a forum with posts since a time")
    def recent_threads(self, forum_name: str, since: datetime) -> Query[Thread]:
        return query(Thread.by_last_post, forum_name=forum_name, last_post_date_time=at_least(since))

    @pattern("Replies in a thread since a time")
    def replies(self, forum: str, thread: str, since: datetime) -> Query[Reply]:
        return query(Reply.primary, forum=forum, thread=thread, reply_date_time=at_least(since))

    @pattern("Replies of an author")
    def replies_by(self, posted_by: str) -> Query[Reply]:
        return query(Reply.by_author, posted_by=posted_by)
