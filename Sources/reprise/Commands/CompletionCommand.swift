/// `reprise completion`: prints what makes a shell complete the words of a command.
enum CompletionCommand: Command {
  static let spec = CommandSpec(
    name: "completion", summary: "Prints the completion script of a shell.",
    operands: "bash|zsh|fish", operandCount: 1...1,
    details: """
      Examples:
        bash:  reprise completion bash > ~/.local/share/bash-completion/completions/reprise
        zsh:   reprise completion zsh > "${fpath[1]}/_reprise"
        fish:  reprise completion fish > ~/.config/fish/completions/reprise.fish
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let shell = arguments.operand
    let script: String
    switch shell {
    case "bash": script = CompletionScript.bash
    case "zsh": script = CompletionScript.zsh
    case "fish": script = CompletionScript.fish
    default:
      throw UsageError(
        "there is no completion for the shell '\(shell)'", "type bash, zsh or fish")
    }
    try OutputFile.standard.write(script)
    return .done
  }
}
