# pyright: strict
"""# Adjacency list

A graph: nodes, and edges with a kind ("follows", "blocks", "imports"). What a node points to is in its own partition;
what points to a node is in the index, which has the two ends exchanged.

Use it for followers, dependencies, bills of material, references between documents.

**Not for** questions that walk many steps ("friends of friends of friends"): each step is a query for each node. Keep a
graph database beside DynamoDB for those, filled by a [stream handler](../streams.md).
"""

from keyplan.data import Store, create
from keyplan.design import (
    Count,
    Design,
    Entity,
    Follow,
    Id,
    ItemCount,
    Query,
    Ref,
    Table,
    belongs_to,
    count,
    counts,
    follow,
    key,
    pattern,
    query,
    ref,
)

graph = Table("Graph", key("PK", "SK"), indexes={"Reverse": key("target", "reverse")})


class Node(Entity, table=graph):
    node_id: Id
    label: str
    incoming: Count = 0

    primary = key("NODE#{node_id}", "NODE")


class Edge(Entity, table=graph):
    source_id: Id
    kind: Id
    target_id: Id

    primary = key("NODE#{source_id}", "EDGE#{kind}#{target_id}")
    reverse = graph.Reverse("NODE#{target_id}", "EDGE#{kind}#{source_id}")

    @belongs_to(on_delete="cascade")
    def source(self) -> Ref[Node]:
        return ref(Node, node_id=self.source_id)

    @belongs_to(on_delete="cascade", via="reverse")
    def target(self) -> Ref[Node]:
        return ref(Node, node_id=self.target_id)

    @counts("incoming")
    def popularity(self) -> Ref[Node]:
        return ref(Node, node_id=self.target_id)


class Graph(Design):
    tables = (graph,)
    entities = (Node, Edge)

    @pattern("List the edges of a kind that leave a node")
    def outgoing(self, node_id: str, kind: str) -> Query[Edge]:
        return query(Edge.primary, source_id=node_id, kind=kind)

    @pattern("List the nodes that an edge of a kind leads to")
    def targets(self, node_id: str, kind: str) -> Follow[Node]:
        return follow(self.outgoing(node_id, kind), lambda edge: ref(Node, node_id=edge.target_id), Node)

    @pattern("List the nodes from which an edge of a kind comes")
    def sources(self, node_id: str, kind: str) -> Follow[Node]:
        edges = query(Edge.reverse, target_id=node_id, kind=kind)
        return follow(edges, lambda edge: ref(Node, node_id=edge.source_id), Node)

    @pattern("Count the edges of a kind that leave a node")
    def degree(self, node_id: str, kind: str) -> ItemCount:
        return count(query(Edge.primary, source_id=node_id, kind=kind))


def use(store: Store[Graph]) -> None:
    """Deleting a node deletes its edges in both directions, because both ends are parents of an edge."""
    for name in ("ann", "joe", "sue"):
        store.run(create(Node(node_id=name, label=name.capitalize())))
    store.run(create(Edge(source_id="ann", kind="follows", target_id="joe")))
    store.run(create(Edge(source_id="ann", kind="follows", target_id="sue")))
    store.run(create(Edge(source_id="sue", kind="follows", target_id="joe")))

    assert [node.label for node in store.run(store.design.targets("ann", "follows")).items] == ["Joe", "Sue"]
    followers = store.run(store.design.sources("joe", "follows")).items
    assert [(node.label, node.incoming) for node in followers] == [("Ann", 0), ("Sue", 1)]
    assert store.run(store.design.degree("ann", "follows")) == 2
