import Synchronization

/// How many bytes of files were read so far, for whoever looks on from another thread.
///
/// Bytes of compressed files count as they lie there, so that the sizes of files are what they come to.
public final class ReadCount: Sendable {
  private let count = Atomic<Int>(0)

  /// Creates a count of nothing.
  public init() {}

  /// The bytes that were read.
  public var bytes: Int { count.load(ordering: .relaxed) }

  /// Takes the news of bytes that were read; of less than none where they are going to be read again.
  func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}
