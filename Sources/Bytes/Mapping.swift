/// The value of an expression, or its failure as another type's case: `Result.mapError` for a function that throws.
@inlinable
package func mapping<Value, Cause: Error, Failure: Error>(
  _ failure: (Cause) -> Failure, _ value: @autoclosure () throws(Cause) -> Value
) throws(Failure) -> Value {
  do throws(Cause) { return try value() } catch { throw failure(error) }
}

/// The same for an expression that waits.
@inlinable
package func mapping<Value, Cause: Error, Failure: Error>(
  _ failure: (Cause) -> Failure, awaiting value: @autoclosure () async throws(Cause) -> Value
) async throws(Failure) -> Value {
  do throws(Cause) { return try await value() } catch { throw failure(error) }
}

extension Result {
  /// The result of an expression that waits.
  package init(awaiting value: @autoclosure () async throws(Failure) -> Success) async {
    do throws(Failure) { self = .success(try await value()) } catch { self = .failure(error) }
  }
}
