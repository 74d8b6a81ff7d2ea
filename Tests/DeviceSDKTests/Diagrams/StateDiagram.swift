import DeviceSDK
import Testing

/// A machine's table, as an article of the documentation shows it.
struct StateDiagram: Sendable, CustomTestStringConvertible {
  /// One arrow.
  struct Edge: Hashable, Sendable {
    let from: String
    let label: String
    let to: String
  }

  /// The article's name.
  let article: String
  /// The name of its picture, without an ending.
  let picture: String
  /// The state that everything begins with.
  let start: String
  /// The transitions, in the order of the machine's table.
  let edges: [Edge]

  var testDescription: String { picture }

  static let all = [
    StateDiagram(
      article: "ChannelStates", picture: "channel-states", start: "idle",
      edges: ChannelTable.transitions.map {
        Edge(from: $0.from.rawValue, label: $0.trigger.rawValue, to: $0.to.rawValue)
      }),
    StateDiagram(
      article: "LineStates", picture: "line-states", start: "new",
      edges: LineTable.transitions.filter { $0.from != $0.to }.map {
        Edge(from: $0.from.rawValue, label: $0.event.rawValue, to: $0.to.rawValue)
      }),
    StateDiagram(
      article: "MessageLinkStates", picture: "message-link-states", start: "idle",
      edges: LinkTable.message.rows.map(Edge.init)),
    StateDiagram(
      article: "StreamLinkStates", picture: "stream-link-states", start: "idle",
      edges: LinkTable.stream.rows.map(Edge.init)),
  ]

  /// The transitions as a table in Markdown.
  var table: String {
    let rows = edges.map { "| \($0.from) | \($0.label) | \($0.to) |" }
    return (["| From | Trigger | To |", "| --- | --- | --- |"] + rows).joined(separator: "\n")
  }

  /// The diagram in the language of Graphviz: one arrow for all transitions between two states.
  var dot: String {
    var labels: [[String]: [String]] = [:]
    var pairs: [[String]] = []
    for edge in edges {
      let pair = [edge.from, edge.to]
      if labels[pair] == nil { pairs.append(pair) }
      labels[pair, default: []].append(edge.label)
    }
    let arrows = pairs.map { pair in
      let label = labels[pair, default: []].joined(separator: "\\n")
      return "  \"\(pair[0])\" -> \"\(pair[1])\" [label=\"\(label)\"];"
    }
    return """
      digraph "\(picture)" {
        graph [rankdir=TB, bgcolor="white", ranksep=0.6, nodesep=0.4];
        node [shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#4a6fa5", \
      fontname="Helvetica", fontsize=13];
        edge [color="#5a6472", fontname="Helvetica", fontsize=10];
        "\(start)" [fillcolor="#cfe0f7", penwidth=2];
      \(arrows.joined(separator: "\n"))
      }

      """
  }
}

extension StateDiagram.Edge {
  /// A row of a link's table, with what the application is told.
  fileprivate init(_ row: LinkTransition) {
    self.init(from: "\(row.from)", label: row.trigger.rawValue, to: "\(row.to)")
  }
}
