package import RepriseCore

/// One thing that a replayed system was asked for or told its application.
package struct ReplayObservation<Value: Sendable, Effect: Sendable, Failure: Error>: Sendable {
  /// When, in the session's time.
  package let time: Timestamp
  /// What in the session it comes from; nil when it comes from nothing but time.
  package let place: ReplayPlace?
  /// What it was.
  package let content: Content

  /// What can be seen of a system.
  package enum Content: Sendable {
    /// The application called something.
    case called(ReplayedCall)
    /// A call was completed.
    case completed(ReplayedCall, Result<Value, Failure>)
    /// The application was told something without having asked.
    case told(Effect)
  }
}

/// A call of the application, by a number that counts the calls from 1.
package struct ReplayedCall: Sendable, Hashable {
  /// The number.
  package let number: Int
  /// What it is.
  package let words: Words

  /// What a call is, in words.
  package struct Words: Sendable, Hashable {
    /// What was called: `start`, `invoke`, `subscribe`.
    package let name: String
    /// What it is about: a topic, a channel, a service; nil for calls that have none.
    package let subject: String?
    /// What was given with it; a token is not among them.
    package let details: JSONValue?

    init(_ name: String, _ subject: String? = nil, _ details: JSONValue? = nil) {
      self.name = name
      self.subject = subject
      self.details = details
    }
  }

  /// What was called.
  package var name: String { words.name }
  /// What it is about.
  package var subject: String? { words.subject }
  /// What was given with it.
  package var details: JSONValue? { words.details }
}

/// How a replay ended.
package struct ReplayOutcome<Plan: ReplayPlan>: Sendable {
  /// Where the machine left the session; nil when it went through it.
  package let divergence: ReplayDivergence?
  /// When the session ended, or was left.
  package let time: Timestamp
  /// How it ended for the application.
  package let ending: Plan.Ending
  /// The calls that still waited.
  package let openCalls: [ReplayedCall]
  /// What the machine would have sent next when the session broke off; nil when it waited.
  package let unsent: String?
  /// The machine as it was left.
  package let machine: Plan.Machine
}
