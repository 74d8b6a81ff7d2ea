import CWebSockets

/// A context of libwebsockets, as other threads than its own see it: all that they can do is wake it.
///
/// It is unchecked as the compiler knows nothing of C pointers: `lws_cancel_service` is the one call that the library
/// allows from any thread (libwebsockets.h), it is the only one here, and the pointer gets out no other way. "While
/// the context exists" is up to the owner of this: it is let go, under the lock that it is kept by, before the
/// context is destroyed.
struct ContextWaker: @unchecked Sendable {
  private let context: OpaquePointer

  init(_ context: OpaquePointer) { self.context = context }

  /// Makes `lws_service` of the context return.
  func wake() { lws_cancel_service(context) }
}
