import Glibc
import Synchronization

/// Gives the terminal back as it was, whatever ends the process: the end, a signal, or a mistake of ours.
///
/// All of it may be called in a handler of signals.
enum TerminalGuard {
  /// The terminal that is to be given back; -1 as long as there is none.
  private static let descriptor = Atomic<Int32>(-1)
  /// The address of how it was; made once, and never freed: a handler may be about to read it.
  private static let settings = Atomic<UInt>(0)
  /// Where a signal that ends nothing is told; -1 as long as nobody hears it.
  private static let listener = Atomic<Int32>(-1)

  /// Ends a sequence that was interrupted, takes colours and modes back, shows the cursor, and leaves the alternate
  /// screen.
  private static let farewell: StaticString = "\u{18}\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// The signals that end the process, by someone's wish.
  private static let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The signals that end it by a mistake.
  private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS]
  /// The signals that are told: another size, a wish to be suspended, the end of that.
  static let told = [SIGWINCH, SIGTSTP, SIGCONT]

  /// Takes care of a terminal.
  /// - Parameters:
  ///   - terminal: Its descriptor.
  ///   - before: How it was.
  ///   - pipe: Where the numbers of signals are written that end nothing.
  static func begin(_ terminal: Int32, _ before: termios, tellingTo pipe: Int32) {
    let kept = keptSettings ?? .allocate(capacity: 1)
    kept.initialize(to: before)
    settings.store(UInt(bitPattern: kept), ordering: .relaxed)
    listener.store(pipe, ordering: .relaxed)
    descriptor.store(terminal, ordering: .sequentiallyConsistent)
    for number in ends {
      handle(number) { number in
        TerminalGuard.giveBack()
        _exit(128 + number)
      }
    }
    for number in faults {
      handle(number) { number in
        TerminalGuard.giveBack()
        _ = signal(number, SIG_DFL)
        raise(number)
      }
    }
    for number in told { listen(to: number) }
  }

  private static var keptSettings: UnsafeMutablePointer<termios>? {
    UnsafeMutablePointer(bitPattern: settings.load(ordering: .relaxed))
  }

  /// Lets a signal be told.
  static func listen(to number: Int32) {
    handle(number) { number in
      let saved = errno
      var byte = UInt8(truncatingIfNeeded: number)
      let end = TerminalGuard.listener.load(ordering: .relaxed)
      if end >= 0 { _ = write(end, &byte, 1) }
      errno = saved
    }
  }

  /// Gives the terminal back; does nothing where that is done.
  static func giveBack() {
    let terminal = descriptor.exchange(-1, ordering: .sequentiallyConsistent)
    guard terminal >= 0 else { return }
    // A terminal that takes nothing any more is not waited for.
    _ = fcntl(terminal, F_SETFL, fcntl(terminal, F_GETFL) | O_NONBLOCK)
    _ = write(terminal, farewell.utf8Start, farewell.utf8CodeUnitCount)
    if let before = keptSettings { tcsetattr(terminal, TCSANOW, before) }
    _ = fcntl(terminal, F_SETFL, fcntl(terminal, F_GETFL) & ~O_NONBLOCK)
  }

  private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }
}
