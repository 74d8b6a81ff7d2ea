import Synchronization

/// What a world knows of the application that runs in a scope of the SDK, however many clients lie between.
///
/// A driver has one for its body, and everything that belongs to the scope finds it as the current one.
package final class ApplicationScope: Sendable {
  /// The scope that the task runs in; nil outside of the SDK.
  @TaskLocal package static var current: ApplicationScope?

  private let error = Mutex<String?>(nil)

  /// Creates the scope of a body.
  package init() {}

  /// What the body threw, in words.
  package var thrown: String? { error.withLock { $0 } }

  /// Notes what the body threw.
  /// - Returns: It in words, with secrets hidden.
  package func note(thrown error: any Error) -> String {
    let text = "\(error)".hidingSecrets
    self.error.withLock { $0 = text }
    return text
  }

  /// Forgets what the body of a scope within this one threw, as the application may have taken it in hand; what another
  /// scope noted since stays.
  package func forget(thrown text: String) { error.withLock { if $0 == text { $0 = nil } } }
}
