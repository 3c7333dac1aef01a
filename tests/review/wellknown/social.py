"""A social network: posts, followers, likes and a timeline for everybody (Developer Guide: "Social network schema
design in DynamoDB")."""

from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    Ttl,
    counts,
    created,
    get,
    key,
    new_id,
    pattern,
    query,
    ref,
)

network = Table("SocialNetwork", key("PK", "SK"), ttl="ttl")


class User(Entity, table=network):
    user_id: Id
    name: str
    picture: str

    primary = key("u#{user_id}", "info")


class Numbers(Entity, table=network):
    user_id: Id
    followers: Count = 0
    following: Count = 0
    posts: Count = 0

    primary = key("u#{user_id}", "count")


class Follower(Entity, table=network):
    user_id: Id
    follower_id: Id

    primary = key("u#{user_id}#follower", "u#{follower_id}")

    @counts("followers")
    def followed(self) -> Ref[Numbers]:
        return ref(Numbers, user_id=self.user_id)

    @counts("following")
    def follows(self) -> Ref[Numbers]:
        return ref(Numbers, user_id=self.follower_id)


class Post(Entity, table=network):
    user_id: Id
    post_id: Id = new_id()
    content: str
    created_at: Created = created()

    primary = key("u#{user_id}#post", "p#{post_id}")

    @counts("posts")
    def posted(self) -> Ref[Numbers]:
        return ref(Numbers, user_id=self.user_id)


class Likes(Entity, table=network):
    post_id: Id
    likes: Count = 0

    primary = key("p#{post_id}#likecount", "count")


class Like(Entity, table=network):
    post_id: Id
    user_id: Id

    primary = key("p#{post_id}#likelist", "u#{user_id}")

    @counts("likes")
    def liked(self) -> Ref[Likes]:
        return ref(Likes, post_id=self.post_id)


class TimelineEntry(Entity, table=network):
    user_id: Id
    post_id: Id
    author_id: Id
    ttl: Ttl

    primary = key("u#{user_id}#timeline", "p#{post_id}#u#{author_id}")


class SocialNetwork(Design):
    tables = (network,)
    entities = (User, Numbers, Follower, Post, Likes, Like, TimelineEntry)

    @pattern("Get user")
    def user(self, user_id: str) -> Get[User]:
        return get(User, user_id=user_id)

    @pattern("Get the numbers of a user")
    def numbers(self, user_id: str) -> Get[Numbers]:
        return get(Numbers, user_id=user_id)

    @pattern("Followers of a user")
    def followers(self, user_id: str) -> Query[Follower]:
        return query(Follower.primary, user_id=user_id)

    @pattern("Posts of a user, the latest first")
    def posts(self, user_id: str) -> Query[Post]:
        return query(Post.primary, user_id=user_id, newest_first=True)

    @pattern("Get the likes of a post")
    def likes(self, post_id: str) -> Get[Likes]:
        return get(Likes, post_id=post_id)

    @pattern("Who likes a post")
    def liked_by(self, post_id: str) -> Query[Like]:
        return query(Like.primary, post_id=post_id)

    @pattern("Timeline of a user, the latest first")
    def timeline(self, user_id: str) -> Query[TimelineEntry]:
        return query(TimelineEntry.primary, user_id=user_id, newest_first=True)
