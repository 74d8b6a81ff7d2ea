import Glibc
import Synchronization

/// The user's wish to end early, by SIGINT or SIGTERM.
enum Interruption {
  /// The first signal that came; 0 as long as none has.
  private static let signal = Atomic<Int32>(0)
  /// How many seconds a read may block after a signal before the process is ended all the same.
  static let grace = Atomic<UInt32>(1)
  /// Where a signal is told to whoever awaits it; -1 as long as nobody does.
  static let writer = Atomic<Int32>(-1)

  /// Lets signals be noticed instead of ending the process in the middle of a line.
  static func watch() {
    // The first use initialises it here, because a handler may run no initialiser.
    signal.store(0, ordering: .relaxed)
    grace.store(1, ordering: .relaxed)
    writer.store(-1, ordering: .relaxed)
    for number in [SIGINT, SIGTERM] where !isIgnored(number) {
      handle(number) { number in
        Interruption.signal.store(number, ordering: .relaxed)
        // A user who signals twice, or waits for input that does not come, is not kept waiting.
        _ = Glibc.signal(number, SIG_DFL)
        alarm(Interruption.grace.load(ordering: .relaxed))
        Interruption.tell()
      }
    }
    handle(SIGALRM) { _ in _exit(128 + Interruption.signal.load(ordering: .relaxed)) }
    // A closed pipe is an error of write(2) then, and ends the command quietly.
    _ = Glibc.signal(SIGPIPE, SIG_IGN)
    // So is a file that reaches the largest size that the process may write.
    _ = Glibc.signal(SIGXFSZ, SIG_IGN)
    unblock()
  }

  private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    sigaction(number, &action, nil)
  }

  /// Whether the caller wants a signal to do nothing, as a shell does for commands behind `&`.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0, let handler = action.__sigaction_handler.sa_handler
    else { return false }
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// A program that starts this one from a thread that blocks signals hands its mask on.
  private static func unblock() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGALRM] { sigaddset(&signals, number) }
    sigprocmask(SIG_UNBLOCK, &signals, nil)
  }

  /// What to end with if a signal has come.
  static var status: ExitStatus? {
    switch signal.load(ordering: .relaxed) {
    case 0: nil
    case SIGINT: .interrupted
    default: .terminated
    }
  }

  /// Goes on only as long as no signal has come.
  /// - Throws: ``Interrupted`` after a signal.
  @inline(__always)
  static func check() throws(Interrupted) {
    guard let status else { return }
    // The end is near; nothing needs to be forced any more.
    alarm(0)
    throw Interrupted(status: status)
  }
}

/// A signal ended the command early.
struct Interrupted: Error, Sendable {
  /// What the command ends with.
  var status: ExitStatus
}
