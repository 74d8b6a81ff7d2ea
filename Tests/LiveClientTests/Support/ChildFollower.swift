import Glibc

/// A pipe whose ends no program inherits but by `dup2`.
struct Pipe: Sendable {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Child.Failure(description: "no pipe: error \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }

  func closeWriting() { close(writing) }
}

/// What the thread of a ``Child`` does: it reads what the program writes, until that and the program are at their
/// end.
struct ChildFollower: Sendable {
  private let output: Int32
  private let errors: Int32?
  /// Tells when files of a directory change.
  private let folder: Int32?

  init(_ output: Pipe, _ errors: Pipe?, folder: String?) throws {
    self.output = output.reading
    self.errors = errors?.reading
    guard let folder else {
      self.folder = nil
      return
    }
    let watch = inotify_init1(Int32(IN_CLOEXEC))
    guard watch >= 0 else { throw Child.Failure(description: "no inotify: error \(errno)") }
    self.folder = watch
    inotify_add_watch(watch, folder, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO))
  }

  func close() {
    for file in [output, errors, folder] { if let file { Glibc.close(file) } }
  }

  /// Reads to the end, and tells of everything.
  func follow(_ pid: pid_t, _ report: Observed<Child.Report>) {
    // `poll` leaves out what is less than nothing.
    var waits = [output, errors ?? -1, folder ?? -1].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while waits[0].fd >= 0 || waits[1].fd >= 0 {
      guard poll(&waits, nfds_t(waits.count), -1) > 0 else { continue }
      for index in waits.indices where waits[index].revents != 0 {
        let count = read(waits[index].fd, &buffer, buffer.count)
        if count <= 0 { waits[index].fd = -1 }
        report.change { report in
          switch index {
          case 0: report.output += buffer.prefix(max(0, count))
          case 1: report.errors += buffer.prefix(max(0, count))
          default: break
          }
        }
      }
    }
    close()
    // It is waited for twice, so that its number stays its own until everybody knows of the end.
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    report.change { report in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      report.status = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }
  }
}
