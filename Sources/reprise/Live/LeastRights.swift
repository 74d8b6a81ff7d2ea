import Glibc

/// Gives up the rights of root once the interface and the output are open.
///
/// The user who called by `sudo` gets the process and the first file; without one it is nobody's, and the file stays
/// root's: what belongs to nobody, every other process of nobody may read.
///
/// Files that are still to be created ask for rights of their own. An open directory does not help: the rights to
/// create in it are asked for each time. So where there is one file after the other, the process goes to the caller
/// only, and only if the caller may create files there and none is to be replaced, which might be somebody else's. In
/// every other case it stays root's, and says so.
enum LeastRights {
  /// What is to be written from now on.
  enum Need: Equatable {
    /// Nothing that is not open.
    case nothing
    /// More files in a directory.
    case files(in: String, replaces: Bool)
  }

  /// Gives up the rights of root, if the process has them.
  /// - Parameters:
  ///   - need: What is still to be created.
  ///   - keyLogs: What is to be read as soon as it is there: nobody may read what a program of root's keeps for itself.
  ///   - name: What is captured.
  ///   - console: How to tell that they are kept.
  ///   - give: Gives the file that is open to a user.
  static func keep(
    for need: Need, awaiting keyLogs: [String] = [], _ name: String, _ console: Console,
    give: (SystemUser) -> Void = { _ in }
  ) {
    guard SystemUser.isRoot else { return }
    let caller = SystemUser.caller { getenv($0).map { String(cString: $0) } }
    if caller == nil, let missing = keyLogs.first(where: { access($0, F_OK) != 0 }) {
      console.note(
        name, "runs on as root, because nobody may not be able to read \(missing), which is to come"
      )
      return
    }
    if case .files(let directory, let replaces) = need {
      guard let caller, !replaces, caller.mayCreate(in: directory) else {
        let who = caller?.name ?? "nobody"
        console.note(name, "runs on as root, because \(who) can't write the next files")
        return
      }
    }
    if let caller { give(caller) }
    guard let user = caller ?? SystemUser.nobody, user.become() else {
      console.note(name, "runs on as root: the system does not let it become another user")
      return
    }
  }
}
