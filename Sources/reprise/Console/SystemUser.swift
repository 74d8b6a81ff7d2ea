import Glibc

/// A user of the system that root can become.
///
/// Bytes off the wire are to be read with as few rights as possible: what goes wrong in that goes wrong as somebody who
/// may do little.
struct SystemUser: Equatable {
  /// What people call it.
  let name: String
  let id: uid_t
  let group: gid_t

  /// Whether this process is root's, and so may become another user.
  static var isRoot: Bool { geteuid() == 0 }

  /// The user who called root by `sudo`; nil where nobody did.
  static func caller(_ environment: (String) -> String?) -> SystemUser? {
    guard let id = environment("SUDO_UID").flatMap({ uid_t($0) }), id != 0,
      let group = environment("SUDO_GID").flatMap({ gid_t($0) }), group != 0
    else { return nil }
    return SystemUser(name: environment("SUDO_USER") ?? "user \(id)", id: id, group: group)
  }

  /// The user who owns nothing; nil on a system that has no such user.
  static var nobody: SystemUser? {
    guard let entry = getpwnam("nobody")?.pointee, entry.pw_uid != 0 else { return nil }
    return SystemUser(name: "nobody", id: entry.pw_uid, group: entry.pw_gid)
  }

  /// Makes the process this user's, for good.
  /// - Returns: Whether it is; else it is root's as before.
  func become() -> Bool {
    // Back to root's: a group that is left alone behind would be a half measure.
    func fail() -> Bool {
      _ = setegid(0)
      _ = setgid(0)
      return false
    }
    var groups = [group]
    guard setgroups(1, &groups) == 0, setgid(group) == 0, setuid(id) == 0 else { return fail() }
    return getuid() == id && geteuid() == id && getegid() == group && setuid(0) != 0
  }

  /// Whether this user may create files in a directory; asked as that user.
  func mayCreate(in directory: String) -> Bool {
    guard setegid(group) == 0 else { return false }
    defer { _ = setegid(0) }
    guard seteuid(id) == 0 else { return false }
    defer { _ = seteuid(0) }
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0
  }
}
