/// What a `DataClient` owes its users, as far as it can be tried without knowing how it is made.
///
/// The cases are those of the documentation of `DataClient`, which says all of it.
public enum ClientObligation: String, Sendable, Hashable, CaseIterable {
  /// A deadline that is reached first, or has passed already, is told as such, and `now` is not before it then.
  case tellsDeadlines
  /// `wake()` makes the next, or the pending, `next(before:)` return `woken`, once.
  case wakes
  /// A cancelled task gets a `CancellationError`.
  case tellsCancellation
  /// What a cancelled task did not get, the next one gets.
  case losesNothingByCancellation
  /// An action that needs a connection is refused as `notConnected` where there is none, and never sent later.
  case needsAConnection
  /// What the capabilities lack is refused as `unsupported`, and never sent later.
  case refusesWhatItLacks
  /// A topic or a filter that can't be is refused as `invalidAction`, and never sent later.
  case refusesWhatCannotBe
  /// A `connect` is answered by just one `connected`.
  case answersConnect
  /// A SUBSCRIBE is answered once, with a grant for each filter.
  case answersSubscribe
  /// An UNSUBSCRIBE is answered once, and nothing comes for its filters any more.
  case answersUnsubscribe
  /// A message is answered once at each QoS.
  case answersPublish
  /// Messages come with the topic and the bytes that were sent, in their order.
  case deliversInOrder
  /// A message that is retained comes to who subscribes later, as retained.
  case retains
  /// A request gets just one answer, which names it.
  case answersRequests
  /// Text, and binary messages where they can be sent, are taken while there is a connection.
  case takesFrames
  /// A `disconnect` ends the connection with just one `closed`, and nothing of it comes behind that.
  case closesOnce
  /// Behind the end of a connection another one can be opened.
  case connectsAgain

  /// What is owed, as a sentence.
  public var sentence: String {
    switch self {
    case .tellsDeadlines: "a deadline that is reached first is told, and now is not before it then"
    case .wakes: "wake() makes the next, or the pending, next(before:) return woken, once"
    case .tellsCancellation: "a cancelled task gets a CancellationError from next(before:)"
    case .losesNothingByCancellation: "what a cancelled task did not get, the next one gets"
    case .needsAConnection: "an action without the connection that it needs is notConnected"
    case .refusesWhatItLacks: "what the capabilities lack is unsupported, and never sent"
    case .refusesWhatCannotBe: "a topic or filter that can't be is an invalidAction, and never sent"
    case .answersConnect: "a connect is answered by just one connected"
    case .answersSubscribe: "a SUBSCRIBE is answered once, with a grant for each filter"
    case .answersUnsubscribe: "an UNSUBSCRIBE is answered once, and nothing comes for it any more"
    case .answersPublish: "a message is answered once at each QoS"
    case .deliversInOrder: "messages come with the topic and bytes that were sent, in their order"
    case .retains: "a retained message comes to who subscribes later, as retained"
    case .answersRequests: "a request gets just one answer, which names it"
    case .takesFrames: "messages without topics are taken while there is a connection"
    case .closesOnce: "a disconnect is answered by just one closed, and nothing comes behind it"
    case .connectsAgain: "behind the end of a connection another one can be opened"
    }
  }
}
