import DeviceSDK
import RepriseCore

/// How a recorded connection of a link begins, in which shows what the user did while there was none.
struct RecordedLinkBeginning: Sendable {
  /// What is subscribed to at once.
  let filters: [String]
  /// Who the user is, and what the session had.
  let greeting: JSONValue

  /// Whether the link says that it comes for the first time: one that was lost says that it is there again, unless its
  /// user has left meanwhile, or it has failed.
  var isFresh: Bool { greeting["again"]?.bool == false }

  /// Whether the link brings anything back that it had.
  var hasRestored: Bool {
    ["restore", "topics"].contains { greeting[$0]?.elements?.isEmpty == false }
  }

  /// Whether the user must have left before, if the link was connected.
  var isOfNewSession: Bool { isFresh && !hasRestored }

  /// The channels that are still subscribed to.
  var channels: Set<String> {
    Set(filters.compactMap { LinkChannelTopics.parse($0)?.channel })
  }

  /// The topics that are still joined.
  var topics: Set<String> {
    Set((greeting["topics"]?.elements ?? []).compactMap { $0["topic"]?.text })
  }

  /// Whether the messages of a user in a topic are still received.
  func receives(_ source: StreamTopics.Source) -> Bool {
    filters.contains { filter in
      LinkChannelTopics.parseTopic(filter).map {
        $0.topic == source.topic && $0.user == source.user
      } ?? false
    }
  }
}
