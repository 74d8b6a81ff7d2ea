import Glibc
import RepriseCore

/// What does the steps of a case: clients at a broker, or a broker for a client.
///
/// All of it happens on the driver's thread, and nothing in it waits.
protocol CaseWorld: AnyObject {
  /// The sockets to wait for; as many as there are until it is serviced.
  var interests: [pollfd] { get }
  /// When it has something to do, whatever comes until then; nil where nothing is due.
  var wakeTime: Timestamp? { get }

  /// Does what sockets are ready for.
  /// - Parameters:
  ///   - events: What `poll` said of each of its interests.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp)

  /// Does what is due.
  func goOn(_ now: Timestamp)

  /// Returns what a name in a step stands for; nil for one that it does not know.
  func value(of name: Substring) -> JSONValue?

  /// Does a step.
  /// - Parameters:
  ///   - step: The step.
  ///   - fields: Its fields, in which values stand in the places that named them.
  ///   - now: The time.
  /// - Returns: What comes before the next step.
  /// - Throws: ``DriverError`` where it can't be done.
  func perform(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress

  /// Has everybody leave in good order, behind the last step.
  /// - Returns: What is waited for then.
  func leave(_ now: Timestamp) -> CaseWait

  /// Breaks everything off.
  func breakOff(_ now: Timestamp)
}

/// What comes behind a step.
enum CaseProgress {
  /// The next step.
  case done
  /// The next step, when this has come.
  case waiting(CaseWait)
  /// The same step, when this has come.
  case again(CaseWait)
}
