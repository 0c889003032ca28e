// OpenSSL 3, with the macros Swift cannot call turned into functions.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
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

static inline long copenssl_set_read_ahead(SSL_CTX *context) {
  return SSL_CTX_set_read_ahead(context, 1);
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
