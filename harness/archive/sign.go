package archive

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// namespace is that of the signatures, so that they are valid only for archives: see ssh-keygen(1), -Y sign.
const namespace = "ssdl"

// maxKeys bounds a file of keys in bytes.
const maxKeys = 1 << 20

// ReadKey reads a private ssh key from a file: Ed25519, ECDSA or RSA. It calls passphrase if the key is
// encrypted; nil means that there is no terminal to ask on.
func ReadKey(path string, passphrase func() ([]byte, error)) (ssh.Signer, error) {
	raw, err := readKeyFile(path)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(raw)
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) {
		name := "its key"
		if encrypted.PublicKey != nil {
			name = "its key " + ssh.FingerprintSHA256(encrypted.PublicKey)
		}
		if passphrase == nil {
			return nil, fmt.Errorf("%s: %s is encrypted, and there is no terminal to ask for the passphrase. Run this in a terminal, or use a key without one", path, name)
		}
		phrase, err := passphrase()
		if err != nil {
			return nil, fmt.Errorf("%s: the passphrase of %s cannot be read: %w", path, name, err)
		}
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(raw, phrase); errors.Is(err, x509.IncorrectPasswordError) {
			return nil, fmt.Errorf("%s: this is not the passphrase of %s", path, name)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %s cannot be read: %w", path, name, err)
		}
	} else if err != nil {
		if _, _, _, _, public := ssh.ParseAuthorizedKey(raw); public == nil {
			return nil, fmt.Errorf("%s is a public key: name the private one, mostly without .pub", path)
		}
		return nil, fmt.Errorf("%s is not a private key of ssh: %w. Make one with ssh-keygen -t ed25519", path, err)
	}
	switch kind := signer.PublicKey().Type(); kind {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
	default:
		return nil, fmt.Errorf("%s: its key %s is of type %s: use one of type Ed25519, ECDSA or RSA", path, ssh.FingerprintSHA256(signer.PublicKey()), kind)
	}
	return signer, nil
}

// readKeyFile reads a plain file of at most maxKeys bytes.
func readKeyFile(path string) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, fmt.Errorf("key file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file of keys but a folder or a special file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeys+1))
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if len(raw) > maxKeys {
		return nil, fmt.Errorf("%s has more than %d bytes: it is no file of keys", path, maxKeys)
	}
	return raw, nil
}

// sign signs a manifest in the form of ssh-keygen. Ed25519 and RSA keys give the same signature each time.
func sign(manifest []byte, key ssh.Signer) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(manifest), key, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("the key %s cannot sign: %w", ssh.FingerprintSHA256(key.PublicKey()), err)
	}
	return sshsig.Armor(sig), nil
}

// Signature is a valid signature of the hashes of all files.
type Signature struct {
	Fingerprint string // of the key: "SHA256:..."
	// Signer is the owner of a trusted key, or the file that it is in; empty if the key is not trusted.
	Signer string
}

// checkSignature verifies the signature of a manifest, and finds its key among the trusted ones. It returns nil
// if there is no signature.
func checkSignature(root *os.Root, found map[string]fileInfo, manifest []byte, trusted TrustedKeys) (*Signature, error) {
	info, ok := found[signatureFile]
	if !ok {
		return nil, nil
	}
	if info.size > maxKeys {
		return nil, fmt.Errorf("its %s has %d bytes: it is not a signature", signatureFile, info.size)
	}
	raw, err := root.ReadFile(signatureFile)
	if err != nil {
		return nil, err
	}
	sig, err := sshsig.Unarmor(raw)
	if err != nil {
		return nil, fmt.Errorf("its %s is not an ssh signature: %w", signatureFile, err)
	}
	key := ssh.FingerprintSHA256(sig.PublicKey)
	if err := sshsig.Verify(bytes.NewReader(manifest), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return nil, fmt.Errorf("its %s, by the key %s, is not valid: %w. The archive was changed after it was signed, or the signature is of another file", signatureFile, key, err)
	}
	return &Signature{key, trusted.owner(sig.PublicKey)}, nil
}
