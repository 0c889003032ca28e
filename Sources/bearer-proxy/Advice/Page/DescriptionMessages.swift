extension TroubleshootingPage {
  /// What APIs say about themselves (RFC 9728).
  static var descriptions: String {
    #"""
    ## Descriptions of APIs

    `check --live`, `init --discover URL` and, with `discovered` in `scopes_on_challenge`, the log show these. They are
    about an API's metadata (RFC 9728), or its provider's. Tokens do not depend on them.

    - `'…' is not an absolute URL`\
      The challenge, or `authorization_servers`, has something else in the place of an address. **Cure:** Tell the API's
      operator.
    - `its metadata are at another origin, …, and are not read`\
      The challenge's `resource_metadata` leads away from the API. **Cure:** Call the API by the name that it uses
      itself, or tell its operator.
    - `… is not https, and is not read`\
      Any machine on the way could replace the answer. **Cure:** Use `https:`.
    - `… redirects elsewhere, which is not followed`\
      Metadata are where they are said to be, or not at all. **Cure:** Tell the API's operator.
    - `… is longer than 64 KiB, and is not read`\
      No metadata are so long. **Cure:** Tell the API's operator.
    - `… is answered with …`\
      The server failed. **Cure:** Try again later.
    - `no metadata: …`\
      The server cannot be reached, or is at a private address although an API names it. **Cure:** See the reason. Name
      a provider of your own network as `authority`.
    - `… is no JSON object with the members of metadata`\
      The server answers something else there. **Cure:** Tell the API's operator.
    - `its metadata are about another resource, '…', and are not used`\
      `resource` is not the API's address, nor one that its path begins with. **Cure:** Call the API by that address, or
      tell its operator.
    - `its metadata name no authorization_servers`\
      The API does not say who issues its tokens. **Cure:** See its documentation.
    - `its scopes_supported has something that is no scope`\
      A scope has a blank, a quote or a backslash. **Cure:** Tell the API's operator.
    - `the provider '…' publishes no metadata`\
      The three usual addresses answer without any. **Cure:** See the API's documentation.
    - `the provider '…' says that it is '…', and is not used`\
      Its `issuer` is not the name by which the API calls it: perhaps another provider's document. **Cure:** Tell the
      API's operator.
    - `the metadata of the provider '…' are not usable: …`\
      A member is missing, or no https URL. **Cure:** Tell the provider's operator.
    """#
  }
}
