import Glibc

/// Tells the user once that much more is written than what it is made of has: something in that is
/// compressed, be it so that a disk fills up.
struct GrowthNote {
  /// So many times the size of the input may be written without a word.
  static let multiple = 100
  /// So many bytes may be written without a word, whatever the input.
  static let least = 1 << 20

  private let input: String
  private let console: Console
  private let start: Int
  private var limit: Int

  /// Takes the size of the input; of standard input and pipes it is not known, and nothing is told.
  /// - Parameters:
  ///   - input: The file, as it was typed.
  ///   - console: How to tell the user.
  ///   - start: The bytes that were written before anything of it.
  init(_ input: String, _ console: Console, behind start: Int = 0) {
    self.input = input
    self.console = console
    self.start = start
    var status = stat()
    let isFile = input != "-" && stat(input, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let size = isFile ? Int(status.st_size).multipliedClamped(by: Self.multiple) : .max
    limit = max(Self.least, size)
  }

  /// Takes how much was written so far, in bytes.
  mutating func take(_ byteCount: Int) {
    guard byteCount - start > limit else { return }
    limit = .max
    console.note(
      input,
      "more than \(Self.multiple) times as much is written as the file has: it holds what is "
        + "compressed, which is written inflated; end with Ctrl-C if that is not wanted")
  }
}

extension Int {
  fileprivate func multipliedClamped(by factor: Int) -> Int {
    let (product, isOver) = multipliedReportingOverflow(by: factor)
    return isOver ? .max : product
  }
}
