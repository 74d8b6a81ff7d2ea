import Testing

/// Text that is longer than the terminal, page by page.
@Suite struct PagerTests {
  private static let last = "reprise conform trace --interface lo"

  @Test func showsAPageAtATime() throws {
    let tmux = try Tmux(width: 100, height: 20)
    try tmux.enter("$reprise help conform trace; echo status $?")
    try tmux.wait("the first page") { $0.contains("Usage: ") && !$0.contains("status") }
    try tmux.type("G")
    try tmux.wait("the last page") { $0.contains(Self.last) }
    try tmux.type("q")
    try tmux.wait("the end") { $0.contains("status 0") }
  }

  /// LESS as the user has it; a pager of the user's; none.
  @Test(arguments: [
    ("LESS=XN", "      1 "), ("PAGER='sed s/^/+/'", "+"), ("PAGER=cat", "status 0"),
    ("PAGER=", "status 0"), ("PAGER=/nowhere/at-all", "status 0"), ("TERM=dumb", "status 0"),
  ])
  func isTheUsers(variable: String, sign: String) throws {
    let tmux = try Tmux(width: 100, height: 20)
    try tmux.enter("\(variable) $reprise help conform trace; echo status $?")
    if sign == "status 0" {
      try tmux.wait("the end") { $0.contains(Self.last) && $0.contains("status 0") }
    } else {
      try tmux.wait("the pager") { screen in
        screen.split(separator: "\n").contains { $0.hasPrefix(sign) }
      }
    }
  }

  /// What fits is written as it is, and so is what goes to a file or a pipe.
  @Test func showsWhatFits() throws {
    let tmux = try Tmux(width: 100, height: 60, environment: ["PAGER": "sed s/^/+/"])
    try tmux.enter(
      "$reprise help report badge; $reprise help conform trace | tail -1; echo status $?")
    try tmux.wait("both") {
      $0.contains("status 0") && $0.contains(Self.last) && !$0.contains("+")
    }
  }
}
