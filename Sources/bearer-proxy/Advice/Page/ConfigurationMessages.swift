extension TroubleshootingPage {
  /// The file, and values of any key.
  static var configuration: String {
    #"""
    ## Configuration

    ### The file

    - `cannot read the configuration: …`\
      The file does not exist, or this user cannot read it. **Cure:** Check the path after `-c` or in
      `BEARER_PROXY_CONFIG`, and the file's owner and mode.
    - `it is …, not a regular file`\
      The path leads to a pipe, a device, a directory or a socket. A pipe would block the proxy. **Cure:** Name a
      regular file. All commands except `run` read the configuration itself from a pipe: `check -c <(…)`.
    - `its writer did not end within … s`\
      The configuration comes through a pipe, and the writer did not close it. **Cure:** Write it to a file first.
    - `it is a pipe that no process writes: start its writer first`\
      The configuration is a named pipe, and no process had opened it to write after two seconds. **Cure:** Start the
      writer first, or use `check -c <(…)`.
    - `larger than … KiB`\
      A file with a secret, a certificate or the configuration is larger than such a file can be. **Cure:** Name the
      right file.
    - `the file is larger than 1 MiB`\
      It is not a configuration. **Cure:** Name the right file.
    - `the file is UTF-16: save it as UTF-8`\
      PowerShell's `>` and some editors write UTF-16. **Cure:** Save the file as UTF-8.
    - `here is …: …; if it is meant, write "\u…" in double quotes`\
      The file contains a character that looks like another one, or that is invisible, such as a no-break space, a
      typographic quote or dash, or a Cyrillic letter in a Latin word. Such characters come with text that was copied
      from a page, a chat or a word processor. Only `display_name` and comments may contain them. **Cure:** Type the
      character again.
    - `a variable inside braces or brackets needs quotes: write "${NAME}"`\
      Inside `{…}` and `[…]`, the brace of `${NAME}` is YAML's. **Cure:** Put the value in quotes, or write the section
      on lines of its own.
    - `the file is empty`\
      The file has no content. **Cure:** `bearer-proxy init` writes a first configuration.
    - `not readable as YAML: …`\
      The text is incomplete or not YAML. **Cure:** Check the reported line and the line before it: quotes, brackets,
      indentation.
    - `this line is indented differently from the section that begins on line …: align it with the section's keys`\
      The keys of a section do not begin in one column. **Cure:** Align them.
    - `this line is in the list that begins on line … and is no element of it: begin it with '- ', or indent it like
      the keys of its section`\
      A key is between the elements of a list. **Cure:** Begin the element with `- `, and align its other keys
      behind it.
    - `a list cannot begin behind its key: begin it on the next line, or write [a, b]`\
      `scopes: - a`. **Cure:** `scopes: [a]`, or the list on lines of its own.
    - `a ':' is not expected here: the line is indented too far, or its value contains ': ' and needs quotes`\
      A key is where none is allowed. **Cure:** Align it with the keys of its section, or put the value in quotes.
    - `a ':' is missing behind the key on line …`\
      A word is alone on its line. **Cure:** Write `key: value`.
    - `the list that begins with '[' on line … lacks a ',' or its ']' before this`\
      A bracket is open. **Cure:** Close it, or add the comma.
    - `the section that begins with '{' on line … lacks a ',' or its '}' before this`\
      A brace is open. **Cure:** Close it, or add the comma.
    - `a value is missing here`\
      Nothing is between two commas, or behind a colon in braces. **Cure:** Give a value or remove the key.
    - `the quoted text that begins on line … has no closing quote`\
      A quote is open. **Cure:** Close it.
    - `the value has ended before this: put all of it in quotes, and double a quote inside single ones`\
      Text follows a closing quote, as in `'it's'`. **Cure:** `'it''s'`.
    - `YAML does not know this escape: double the backslash, or use single quotes`\
      A backslash in double quotes, as in a Windows path. **Cure:** `'C:\path'` or `"C:\\path"`.
    - `a value cannot begin with this character: put it in quotes`\
      The value begins with `@`, `%` or a backquote. **Cure:** Put it in quotes.
    - `'*' and '&' have a meaning of their own in YAML: put the value in quotes`\
      `hosts: [*]`. **Cure:** `hosts: ["*"]`.
    - `this line is indented less than the first one: begin all keys of the file in the same column`\
      The first line begins with blanks. **Cure:** Remove them.
    - `not UTF-8 text: …; save the file as UTF-8, without control characters`\
      The file has another encoding, or contains control characters. **Cure:** Save it as UTF-8.
    - `no memory to read the file`\
      The machine is out of memory. **Cure:** Free some; the file has at most 1 MiB.
    - `YAML is indented with spaces; this is a tab`\
      The line contains a tab. **Cure:** Replace it with spaces.
    - `a second YAML document begins here; the configuration is one document`\
      The file has a second `---`. **Cure:** Use one document per file.
    - `nested deeper than … levels`\
      No setting is nested that deeply. **Cure:** Look for unclosed brackets.
    - `…: anchors, aliases and tags are not supported here`\
      The file uses `&name` or `!tag`. **Cure:** Write the value at each place.
    - `alias '*…': anchors, aliases and tags are not supported here`\
      The file uses `*name`, or a value begins with `*`. **Cure:** Write the value out, or quote it: `"*"`.
    - `a key must be a word`\
      A key is a list or a mapping. **Cure:** Look for a colon in the wrong place.
    - `key '…' is already on line …; keep one`\
      A section has the same key twice. **Cure:** Keep one.

    ### Any value

    - `unknown key '…'…`\
      The section has no such setting. **Cure:** See [config/full.yaml](../config/full.yaml), which has every key, or
      take the suggestion.
    - `… needs '…'`\
      A required key is missing. **Cure:** Add it.
    - `… takes keys of its own (…)`\
      A section has a plain value or is empty. **Cure:** Write the section's keys below it, indented.
    - `… takes a list, each element beginning with '-'`\
      Listeners or routes are not a list. **Cure:** `- address: …`, one element for each.
    - `… takes a name and, below it, keys`\
      `applications` is not a mapping of names. **Cure:** `applications: {contoso: {authority: …}}`.
    - `… needs 'client_secret' or 'client_secret_file' beside it`\
      `client_authentication` says how to send a secret, and the application has none. **Cure:** Remove it, or give the
      application its secret.
    - `… has both '…' and 'pfx_file'; keep one`\
      The certificate is in PEM files and in an archive. **Cure:** Remove one.
    - `… has no meaning with a managed identity, which asks no provider`\
      The application takes its tokens from the machine's service, which knows who it is. **Cure:** Remove the key.
    - `source '…' needs the variable …, which the environment does not have`\
      The platform that `source` names sets this variable, and the proxy does not see it. **Cure:** Correct `source`, or
      hand the variable on to the proxy (systemd: `PassEnvironment=`).
    - `the environment's … is no http or https URL`\
      A platform's variable holds something else. **Cure:** Correct or unset it; `source` overrules variables that were
      left behind.
    - `the environment's … is not https, which Service Fabric speaks`\
      The variable is another platform's. **Cure:** Unset `IDENTITY_SERVER_THUMBPRINT`, or correct the address.
    - `the environment's … is no SHA-1 thumbprint of 40 hexadecimal digits`\
      The variable is damaged. **Cure:** Correct it.
    - `… names no identity: as a credential only a user-assigned one is accepted; write its 'client_id'`\
      Entra takes no system-assigned identity as a federated credential. **Cure:** Assign a user-assigned identity, and
      name it.
    - `azure_ml knows an identity by its client_id alone`\
      `object_id` or `resource_id` is given. **Cure:** Write `client_id`.
    - `… has one identity, which is assigned where it runs: leave its id out`\
      The platform cannot be asked for another identity. **Cure:** Remove the id; assign the identity in the cluster's
      manifest.
    - `…: a managed identity's token is for one resource: name one scope`\
      The route has no scope or several. **Cure:** Write one, such as `https://vault.azure.net/.default`.
    - `…: a managed identity has tokens of its own alone: write as: application`\
      The route asks for a person's token. **Cure:** `token: {as: application, scopes: […]}`.
    - `the environment has no …: does the pod have the label azure.workload.identity/use, and a service account with a
      client id?`\
      `workload_identity` needs what Azure's webhook sets in a pod. **Cure:** Add label and annotation, and create the
      pod anew; elsewhere, use `client_assertion_file`.
    - `the environment has no …: does the cluster have an identity binding for this service account?`\
      `token_proxy` needs an AKS identity binding. **Cure:** Create the binding, or remove `token_proxy`.
    - `the environment's … is no https URL without a query`\
      `AZURE_KUBERNETES_TOKEN_PROXY` is damaged. **Cure:** Create the pod anew.
    - `the environment has both … and …; keep one`\
      Two sources of trust for the token proxy. **Cure:** Unset one.
    - `the environment has no …: a job has it with the permission 'id-token: write'`\
      The job may not request ID tokens, or its variables do not reach the proxy. **Cure:** Add `permissions: {id-token:
      write}` to the job.
    - `the environment's … is not https: the job's token would travel in clear`\
      The job's service has an `http:` address. **Cure:** Let the server offer TLS.
    - `…: '…' is not one word without blanks, quotes and backslashes`\
      An audience is one URI or name. **Cure:** Correct it.
    - `… needs one of managed_identity, gcp, github_actions, application`\
      `federated` is empty, or its kind is misspelt. **Cure:** Say who hands out the token.
    - `…: application '…' has no credential, so it has no tokens of its own`\
      A public client cannot prove another application. **Cure:** Give it a credential, or name another one.
    - `…: applications prove one another in a circle: …`\
      Each application of the circle needs another one first. **Cure:** Let one of them prove itself in another way.
    - `… has no meaning with a managed identity, whose service takes a resource alone`\
      A managed identity's service knows no `audience`, `resource` or `parameters`. **Cure:** Remove the key.
    - `… has no meaning with grant: id_jag, whose audience is the server of 'resource_application'`\
      An identity assertion is for the API's own authorization server. **Cure:** Remove the key.
    - `…: … is told the resource by 'scopes': leave it out`\
      Entra rejects `resource` beside scopes. **Cure:** Remove it, and write the resource into the scope.
    - `'…' is not a parameter's name of letters, digits, '-', '.', '_'`\
      The name of a parameter has another character. **Cure:** Correct it.
    - `'…' is not for a route to set: other settings decide grant, application and person`\
      Such a parameter would make another request of it. **Cure:** Remove it.
    - `the value of '…' is longer than 2048 bytes, or has a control character`\
      The parameter is damaged. **Cure:** Correct it.
    - `'…' is not an absolute URI without a fragment (RFC 8707)`\
      `resource` needs a scheme, such as `https:` or `urn:`. **Cure:** Write the API's URI, or use `audience`.
    - `… takes names with a value each: {name: value}`\
      `parameters` is not a mapping. **Cure:** `parameters: {organization: org_1}`.
    - `… needs one of …`\
      `credential` is empty, or its kind is misspelt. **Cure:** Write one of the kinds below it.
    - `… is empty`\
      The value, or the variable in it, is empty. **Cure:** Give a value or remove the key.
    - `… has no value`\
      Nothing follows the colon. **Cure:** Give a value or remove the key.
    - `… takes one value`\
      A list or section is in place of a value. **Cure:** Write one value.
    - `… takes a list: write […]`\
      A single value. **Cure:** Write it in brackets.
    - `… takes a list of at least one value: [a, b]`\
      An empty list, or a section. **Cure:** Write a list in brackets.
    - `… repeats '…'`\
      The list has the same value twice. **Cure:** Keep one.
    - `… refers to '…', which the environment does not have: set it where the process starts`\
      The environment has no variable of this name. **Cure:** Set it where the process starts: unit, pod, Compose file.
    - `… has a '$' that is neither '${NAME}' nor '$$' (a dollar)`\
      The value contains a single dollar sign. **Cure:** Write `$$`.
    - `…: what its variable holds contains …: set the variable again`\
      The environment variable's value contains a character that looks like another one, or that is invisible. **Cure:**
      Set the variable again, with a value that is typed.
    - `… is true or false, not '…'`\
      The value is another word. **Cure:** Write `true` or `false`.
    - `… is a whole number from … to …, not '…'`\
      The value is not a number, or out of range. **Cure:** Write a number in the range.
    - `… is a duration such as 500ms, 30s, 5m or 1h, not '…'`\
      The unit is missing, or the time is zero. **Cure:** Add `ms`, `s`, `m` or `h`.
    - `… is a size such as 512B, 64KiB or 1MiB, not '…'`\
      The unit is missing. **Cure:** Add `B`, `KiB`, `MiB` or `GiB`.
    - `… is at most 80 characters on one line, not '…'`\
      `display_name` is what people read on pages. **Cure:** Shorten it.
    - `… is from … to …, not '…'`\
      The size or time is out of range. **Cure:** Choose a value in the range.
    - `… is more than …, which includes it`\
      The request target is part of the head. **Cure:** Raise `limits.head_bytes`, or lower `limits.target_bytes`.
    - `… is one of …, not '…'`\
      The word is unknown. **Cure:** Use one of the listed words.
    - `… has both '…' and '…'; keep one`\
      Two keys set the same thing, such as a secret and its file. **Cure:** Remove one.
    - `… names a file, not a directory: '…'`\
      The path ends in `/`. **Cure:** Name the file.
    - `is UTF-16, as PowerShell's '>' writes it: save it as UTF-8 without a byte order mark`\
      The secret's file is not the secret's bytes. **Cure:** `Set-Content -Encoding ascii -NoNewline FILE 'SECRET'`.
    - `begins with a byte order mark, which an editor put there: save it as UTF-8 without one`\
      The secret would begin with three bytes that it does not have. **Cure:** `printf %s 'SECRET' > FILE`.
    - `holds a PEM block, which is a certificate or a key: name its file under 'credential: {certificate: …}'`\
      A certificate or key is no client secret. **Cure:** See [client
      credentials](../config/reference.md#client-credentials).
    - `has … lines, and a secret is one: keep the secret alone`\
      The file or variable contains something else beside the secret. **Cure:** Keep the secret's line.
    - `contains …: copy the secret again`\
      The secret contains a character that looks like another one, or that is invisible. Providers make secrets of ASCII
      characters. **Cure:** Copy it again, not by way of a chat or a word processor.
    - `contains a control character: copy the secret again`\
      A terminal or program added it. **Cure:** Copy it again.
    - `…: '…' is not the whole path of a program: begin it with '/'`\
      A command's first word is a name. **Cure:** Write the path (`command -v NAME`).
    - `… takes a list: [/path/of/program, argument]; no shell reads it`\
      A command in one line. **Cure:** Write each word as an element; for pipes, write a script.
    - `… names '…', which the environment does not have: set it where the process starts`\
      A command is to get a variable that the proxy does not have. **Cure:** Set it in the unit, or remove the name.
    - `… is at most …`\
      A command may not run so long: callers wait ten seconds. **Cure:** Write less.
    - `cannot be run: …`\
      The end of a message about a command: the program does not exist, or is not executable for this user. **Cure:**
      Check path and mode.
    - `has blanks and line ends alone, which are no secret`\
      A variable or a file for a secret was filled in by mistake. **Cure:** Write the secret there.
    - `…: a client secret has at least … bytes; a shorter one is a mistake, or the provider must give another`\
      So short a word is in every answer of a provider, from which the proxy keeps the secret out. **Cure:** Compare
      with what the provider gave; else have it make a longer one.
    - `…: cannot read …: …`\
      A file that the configuration names does not exist, or this user cannot read it. **Cure:** Check owner and mode of
      the file and of the directories above it. Relative paths start at the configuration's directory.
    - `… can be read by everybody on this machine (mode 0…); chmod o-r helps, or 'allow_readable_secrets: true' if it
      has no other users`\
      Any user's process could read the secret. **Cure:** `chmod o-r FILE`; in a container with one user, the setting.
    - `…can be written by everybody on this machine (mode 0…); chmod …… helps`\
      Every user of the machine can change the configuration, or a certificate, key, secret or program that it names; or
      can put another file in its place, because they can write a directory on the way to it, which the message then
      names. **Cure:** The command in the message. With `allow_readable_secrets: true` it is a warning, but for
      programs.
    - `…: a secret is written in …, which everybody on this machine can read (mode 0…); chmod o-r helps, or '…' or a
      variable in its place, or 'allow_readable_secrets: true' if it has no other users`\
      The configuration contains the secret, and any user's process can read it. **Cure:** `chmod o-r FILE`, or put the
      secret into a file or variable.
    """#
  }
}
