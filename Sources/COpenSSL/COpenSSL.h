// OpenSSL 3, with the macros Swift cannot call turned into functions.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static const int copenssl_public_key = EVP_PKEY_PUBLIC_KEY;
static const int copenssl_utf8 = MBSTRING_UTF8;

// The builder keeps the names' addresses, so they must be C literals: a Swift string's bytes would be gone by then.
static inline OSSL_PARAM *copenssl_rsa_public_numbers(const BIGNUM *modulus, const BIGNUM *exponent) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
    parameters = OSSL_PARAM_BLD_to_param(builder);
  OSSL_PARAM_BLD_free(builder);
  return parameters;
}

/* SHA-256 in memory of the caller. OpenSSL 3.0 allocates for each digest that goes through EVP. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline int copenssl_sha256(const void *bytes, size_t count, unsigned char *digest) {
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, bytes, count) && SHA256_Final(digest, &context);
}
#pragma GCC diagnostic pop

static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int copenssl_set_min_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}

static inline long copenssl_set_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

static inline long copenssl_set_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_mode(context, mode);
}

static inline long copenssl_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}

static inline long copenssl_set_max_certificates(SSL_CTX *context, long bytes) {
  return SSL_CTX_set_max_cert_list(context, bytes);
}

static inline long copenssl_set_read_ahead(SSL_CTX *context) {
  return SSL_CTX_set_read_ahead(context, 1);
}

// Writes the names a verified peer's certificate is for, one on a line: its subject (RFC 2253) and its alternative
// names with their kind in front. A name with a control byte is left out: no line of it could be told from another
// name. Returns 0 without a certificate.
static inline int copenssl_write_peer_names(const SSL *ssl, BIO *output) {
  X509 *certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == NULL || SSL_get_verify_result(ssl) != X509_V_OK) return 0;
  X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  BIO_write(output, "\n", 1);
  GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    const char *kind = name->type == GEN_DNS   ? "DNS:"
                       : name->type == GEN_URI   ? "URI:"
                       : name->type == GEN_EMAIL ? "email:"
                                                 : NULL;
    if (kind == NULL) continue;
    const unsigned char *text = ASN1_STRING_get0_data(name->d.ia5);
    int length = ASN1_STRING_length(name->d.ia5), isPlain = length > 0;
    for (int at = 0; at < length; at++) isPlain = isPlain && text[at] > 0x20 && text[at] < 0x7F;
    if (!isPlain) continue;
    BIO_puts(output, kind);
    BIO_write(output, text, length);
    BIO_write(output, "\n", 1);
  }
  GENERAL_NAMES_free(names);
  return 1;
}

// Writes the SHA-256 of a verified peer's certificate, 32 bytes. Returns 0 without a certificate.
static inline int copenssl_write_peer_digest(const SSL *ssl, unsigned char *digest) {
  const X509 *certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == NULL || SSL_get_verify_result(ssl) != X509_V_OK) return 0;
  unsigned int length = 0;
  return X509_digest(certificate, EVP_sha256(), digest, &length) == 1 && length == 32;
}

// Whole days until the peer's certificate ends, negative afterwards. Returns 0 without a certificate.
static inline int copenssl_certificate_days(const SSL *ssl, int *days) {
  const X509 *certificate = SSL_get0_peer_certificate(ssl);
  int seconds = 0;
  return certificate != NULL && ASN1_TIME_diff(days, &seconds, NULL, X509_get0_notAfter(certificate)) == 1;
}

// Seconds since 1970; 0 if the time cannot be read.
static inline long long copenssl_seconds(const ASN1_TIME *time) {
  ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
  int days = 0, seconds = 0;
  int isRead = epoch != NULL && ASN1_TIME_diff(&days, &seconds, epoch, time) == 1;
  ASN1_TIME_free(epoch);
  return isRead ? (long long)days * 86400 + seconds : 0;
}

// Whether an error says that OpenSSL has the algorithm in its legacy provider, which is not loaded, or not at all.
static inline int copenssl_is_unsupported(unsigned long error) {
  return ERR_GET_REASON(error) == ERR_R_UNSUPPORTED;
}

// Whether an error is one that another passphrase would not have: an archive's checksum, or what comes out of its
// cipher.
static inline int copenssl_is_wrong_passphrase(unsigned long error) {
  int library = ERR_GET_LIB(error), reason = ERR_GET_REASON(error);
  return (library == ERR_LIB_PKCS12 &&
          (reason == PKCS12_R_MAC_VERIFY_FAILURE || reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR)) ||
         (library == ERR_LIB_EVP && reason == EVP_R_BAD_DECRYPT) ||
         (library == ERR_LIB_PROV && reason == PROV_R_BAD_DECRYPT);
}

// Takes an archive apart. The certificates besides the key's own are behind it in the array, which the caller frees.
static inline int copenssl_parse_archive(PKCS12 *archive, const char *passphrase, EVP_PKEY **key, X509 **certificates,
                                         int limit) {
  STACK_OF(X509) *others = NULL;
  if (PKCS12_parse(archive, passphrase, key, &certificates[0], &others) != 1) return -1;
  int count = certificates[0] == NULL ? 0 : 1;
  for (X509 *next; (next = sk_X509_shift(others)) != NULL;) {
    if (count < limit) certificates[count++] = next;
    else X509_free(next);
  }
  sk_X509_free(others);
  return count;
}

// Believes the peer whose certificate has this SHA-1, and no other, whichever authority issued it
// (SSL_CTX_set_cert_verify_callback(3)).
static inline int copenssl_verify_pin(X509_STORE_CTX *store, void *pin) {
  unsigned char digest[20];
  unsigned int length = 0;
  const X509 *certificate = X509_STORE_CTX_get0_cert(store);
  int isPinned = certificate != NULL && X509_digest(certificate, EVP_sha1(), digest, &length) == 1 && length == 20 &&
                 CRYPTO_memcmp(digest, pin, 20) == 0;
  X509_STORE_CTX_set_error(store, isPinned ? X509_V_OK : X509_V_ERR_CERT_UNTRUSTED);
  return isPinned;
}

// Has a client believe one certificate only. Returns what the caller frees after the context; NULL without memory.
static inline void *copenssl_pin(SSL_CTX *context, const unsigned char *sha1) {
  void *pin = OPENSSL_memdup(sha1, 20);
  if (pin != NULL) SSL_CTX_set_cert_verify_callback(context, copenssl_verify_pin, pin);
  return pin;
}

static inline void copenssl_free(void *memory) {
  OPENSSL_free(memory);
}

static inline void copenssl_bio_set_retry_read(BIO *bio) {
  BIO_set_retry_read(bio);
}

static inline void copenssl_bio_set_retry_write(BIO *bio) {
  BIO_set_retry_write(bio);
}

static inline void copenssl_bio_clear_retry(BIO *bio) {
  BIO_clear_retry_flags(bio);
}

#endif
