package import Glibc
package import RepriseCore

/// Gets a thread out of `poll`: a pipe to itself.
package final class Waker: Sendable {
  private let reader: Int32
  private let writer: Int32

  /// Opens the pipe.
  /// - Throws: ``DataClientError`` when there are no file descriptors left.
  package init() throws(DataClientError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw DataClientError(.transport, "no pipe could be opened: \(systemText(errno))")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    reader = ends[0]
    writer = ends[1]
  }

  deinit {
    close(reader)
    close(writer)
  }

  /// Makes the pending, or the next, ``wait(on:events:milliseconds:)`` return.
  package func wake() {
    var byte: UInt8 = 1
    // A full pipe wakes as well as one byte more.
    _ = write(writer, &byte, 1)
  }

  /// Waits until woken, until something happens on one of many sockets, or until time is up.
  /// - Parameters:
  ///   - files: The sockets, with what to wait for on each; gets what happened.
  ///   - milliseconds: How long to wait; negative is for ever.
  package func wait(on files: inout [pollfd], milliseconds: Int32) {
    files.append(pollfd(fd: reader, events: Int16(POLLIN), revents: 0))
    defer { files.removeLast() }
    let count = poll(&files, nfds_t(files.count), milliseconds)
    // What was there before says nothing when the call failed.
    if count <= 0 { for index in files.indices { files[index].revents = 0 } }
    if files.last?.revents != 0 { drain() }
  }

  /// Waits until woken, until something happens on a socket, or until time is up.
  /// - Parameters:
  ///   - socket: The socket; -1 for none.
  ///   - events: What to wait for on it.
  ///   - milliseconds: How long to wait; negative is for ever.
  /// - Returns: What happened on the socket.
  func wait(on socket: Int32 = -1, events: Int32 = 0, milliseconds: Int32) -> Int32 {
    var files = [
      pollfd(fd: reader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(truncatingIfNeeded: events), revents: 0),
    ]
    guard poll(&files, nfds_t(files.count), milliseconds) > 0 else { return 0 }
    if files[0].revents != 0 { drain() }
    return Int32(files[1].revents)
  }

  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(reader, &bytes, bytes.count) == bytes.count {}
  }
}
