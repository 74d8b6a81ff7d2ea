import Testing

@testable import RepriseCore

/// What a world knows of the errors of the application that it serves.
@Suite struct ApplicationScopeTests {
  private struct Failure: Error, CustomStringConvertible { let description: String }

  @Test func forgetsNothingButWhatItIsToldTo() {
    let scope = ApplicationScope()
    let first = scope.note(thrown: Failure(description: "first"))
    #expect(first == "first" && scope.thrown == "first")
    let second = scope.note(thrown: Failure(description: "second"))
    // The scope that threw first ends after another one has thrown.
    scope.forget(thrown: first)
    #expect(scope.thrown == "second")
    scope.forget(thrown: second)
    #expect(scope.thrown == nil)
  }

  @Test func tellsNoSecret() {
    let scope = ApplicationScope()
    let text = scope.note(thrown: Failure(description: #"no login: {"token":"hush"}"#))
    #expect(!text.contains("hush") && scope.thrown == text)
  }
}
