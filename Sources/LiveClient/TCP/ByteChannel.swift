/// What bytes are read from and written to without waiting: a socket, or TLS on one.
package protocol ByteChannel: AnyObject {
  /// The file descriptor to wait on.
  var number: Int32 { get }
  /// Brings the beginning on as far as it goes: a handshake, if there is one.
  func begin() -> ChannelBeginning
  /// Reads what there is, at most as much as the buffer is long.
  func read(into buffer: inout [UInt8]) -> TCPSocket.Reading
  /// Writes what is taken at once; returns how much that is, and nil when the connection is broken.
  func write(_ bytes: ArraySlice<UInt8>) -> Int?
  /// Whether there is something to read that was taken off the socket already.
  var hasMore: Bool { get }
  /// Says behind all that was written that nothing more will be.
  /// - Returns: Whether the connection was there to say it on; nil when it must be said again once something can be
  ///   written.
  func shutdownWriting() -> Bool?
  /// How the bytes are protected, for people; nil when they are not.
  var protection: String? { get }
  /// Makes its closing break the connection off.
  func breakOffWhenClosed()
}

/// How far the beginning of a channel has come.
package enum ChannelBeginning {
  /// Bytes can pass.
  case done
  /// It waits until something can be read.
  case wantsReading
  /// It waits until something can be written.
  case wantsWriting
  /// It waits until it is known what to answer a client.
  case wantsAnswer
  /// There will be none; the text is for people.
  case failed(String)
}

extension TCPSocket: ByteChannel {
  package func begin() -> ChannelBeginning { .done }
  package var hasMore: Bool { false }
  package var protection: String? { nil }
  package func shutdownWriting() -> Bool? { shutdownWriting() as Bool }
}
