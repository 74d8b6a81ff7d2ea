import Foundation
import Testing

/// Completion in the shells that it is written for.
@Suite struct CompletionTests {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.write("", to: "unique.pcap")
  }

  /// What a shell makes of the beginning of a line: the candidates, or all that it writes to its terminal.
  private func complete(_ typed: String, in shell: Shell) throws -> [String] {
    let script =
      switch shell {
      case .bash:
        """
        source <($reprise completion bash); COMP_WORDS=(reprise \(typed)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _reprise; printf '%s\\n' "${COMPREPLY[@]}"
        """
      case .fish:
        """
        fish --no-config -c "$reprise completion fish | source; complete -C 'reprise \(typed)'" | cut -f 1
        """
      case .zsh:
        """
        $reprise completion zsh > _reprise
        timeout 120 zsh -f <<'END' | tr -s ' \\r' '\\n\\n'
        zmodload zsh/zpty
        zpty shell "TERM=dumb zsh -f -i"
        zpty -w shell "PS1='> '; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; echo rea''dy"
        zpty -r shell told '*ready*2004h*'
        # A tab; then something that is echoed when all is shown.
        zpty -wn shell $'reprise \(typed)\\t'
        zpty -wn shell $'\\x15echo all sh""own\\n'
        zpty -r shell told '*shown*'
        print -r -- $told
        END
        """
      }
    let result = try RepriseProcess.shell("cd '\(scratch.directory.path)'; \(script)")
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test(
    arguments: Shell.allCases,
    [
      ("ins", "inspect"), ("inspect --format j", "jsonl"), ("inspect uni", "unique.pcap"),
      ("inspect --keylog uni", "unique.pcap"), ("conform ex", "explain"),
      ("help conform ex", "explain"), ("conform explain MQTT-3.8.3-", "MQTT-3.8.3-1"),
      ("conform list RFC6455-5.1-", "RFC6455-5.1-1"), ("conform sdk gate", "gateway"),
      ("conform sdk answers-cr", "answers-crossing"),
      ("conform explain SDK-gateway-", "SDK-gateway-30"),
      ("conform trace --clause RFC6455-5.1-", "RFC6455-5.1-1"),
      ("conform trace --cla", "--clause"), ("conform sdk --clause SDK-link-", "SDK-link-3"),
      ("conform broker --case beyond-sh", "beyond-shared"),
      ("conform trace --spec mqtt-3.1.1,rfc", "mqtt-3.1.1,rfc6455"),
      ("conform trace --clause MQTT-3.8.3-1,RFC6455-5.1-", "MQTT-3.8.3-1,RFC6455-5.1-1"),
      ("conform trace --report jun", "junit="),
    ])
  func completesWhatACommandKnows(shell: Shell, line: (typed: String, word: String)) throws {
    let words = try complete(line.typed, in: shell)
    guard shell != .zsh else {
      // Behind a word may stand what moves the cursor; of a list candidates are shown without what is there already.
      let last = String(line.word.split(separator: ",").last ?? "")
      let candidates = [line.word, last]
      #expect(
        words.contains { word in candidates.contains { word.hasPrefix($0) } }, "\(words)")
      return
    }
    #expect(words.contains(line.word), "\(words)")
    let start = line.typed.split(separator: " ").last ?? ""
    #expect(words.allSatisfy { $0.hasPrefix(start) } && Set(words).count == words.count)
  }

  @Test(arguments: Shell.allCases) func completesNothingThatDoesNotFit(shell: Shell) throws {
    for typed in ["inspect --format q", "conform explain RFC6455-99", "nonsense uni"] {
      let words = try complete(typed, in: shell)
      #expect(
        words.allSatisfy { !["xml", "text", "jsonl", "unique.pcap"].contains($0) }, "\(words)")
    }
  }

  /// No file stands where a format has to, and behind a format stand files.
  @Test func completesReportsInFish() throws {
    let formats = ["text=", "json=", "junit=", "sarif=", "html=", "markdown=", "github=", "tap="]
    #expect(try complete("conform trace --report ", in: .fish).sorted() == formats.sorted())
    #expect(try complete("conform trace --report tap=uni", in: .fish) == ["tap=unique.pcap"])
  }

  /// Behind a second word none of the others can stand.
  @Test(arguments: Shell.allCases) func completesASecondWordOnce(shell: Shell) throws {
    #expect(try complete("record pro", in: shell).contains { $0.hasPrefix("proxy") })
    for typed in ["record interface ", "record interface pro"] {
      let words = try complete(typed, in: shell)
      #expect(words.allSatisfy { !$0.hasPrefix("proxy") }, "\(typed): \(words)")
    }
  }

  @Test func readsInBash() throws {
    let result = try RepriseProcess.shell("$reprise completion bash | bash -n")
    #expect(result.status == 0 && result.errors == "")
  }
}
