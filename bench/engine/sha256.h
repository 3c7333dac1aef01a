/* SHA-256 and HMAC, for signing requests. */
#ifndef SHA256_H
#define SHA256_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGEST 32
#define BLOCK 64

typedef struct {
    uint32_t state[8];
    uint8_t block[BLOCK];
    uint64_t length;
} sha256_t;

static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotated(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void sha256_block(sha256_t *hash, const uint8_t *bytes) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, 4);
        w[i] = __builtin_bswap32(word);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t low = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(s, hash->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) + choice +
                       sha256_constants[i] + w[i];
        uint32_t two = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) + majority;
        s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + one;
        s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) hash->state[i] += s[i];
}

static void sha256_start(sha256_t *hash) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->length = 0;
}

static void sha256_add(sha256_t *hash, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    size_t used = hash->length % BLOCK;
    hash->length += length;
    if (used) {
        size_t taken = length < BLOCK - used ? length : BLOCK - used;
        memcpy(hash->block + used, at, taken);
        at += taken, length -= taken;
        if (used + taken < BLOCK) return;
        sha256_block(hash, hash->block);
    }
    for (; length >= BLOCK; at += BLOCK, length -= BLOCK) sha256_block(hash, at);
    memcpy(hash->block, at, length);
}

static void sha256_end(sha256_t *hash, uint8_t digest[DIGEST]) {
    uint8_t tail[2 * BLOCK] = {0x80};
    size_t used = hash->length % BLOCK, length = (used < BLOCK - 8 ? BLOCK : 2 * BLOCK) - used;
    uint64_t bits = __builtin_bswap64(hash->length * 8);
    memcpy(tail + length - 8, &bits, 8);
    sha256_add(hash, tail, length);
    for (int i = 0; i < 8; i++) {
        uint32_t word = __builtin_bswap32(hash->state[i]);
        memcpy(digest + 4 * i, &word, 4);
    }
}

static void hmac(const void *key, size_t key_length, const char *text, size_t length, uint8_t digest[DIGEST]) {
    uint8_t inner[BLOCK] = {0}, outer[BLOCK];
    sha256_t hash;
    memcpy(inner, key, key_length); /* keys here are shorter than a block */
    for (int i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_start(&hash);
    sha256_add(&hash, inner, BLOCK);
    sha256_add(&hash, text, length);
    sha256_end(&hash, digest);
    sha256_start(&hash);
    sha256_add(&hash, outer, BLOCK);
    sha256_add(&hash, digest, DIGEST);
    sha256_end(&hash, digest);
}

static void hexadecimal(const uint8_t digest[DIGEST], char *text) {
    for (int i = 0; i < DIGEST; i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
}

#endif
