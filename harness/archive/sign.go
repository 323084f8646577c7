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

// namespace keeps a signature from being one of something else: see ssh-keygen(1), -Y sign.
const namespace = "ssdl"

// maxKeys bounds a file of keys.
const maxKeys = 1 << 20

// ReadKey reads the private key of ssh in a file: Ed25519, ECDSA or RSA. passphrase is called if it
// is encrypted; nil means that there is nobody to ask.
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
			return nil, fmt.Errorf("%s: %s is encrypted, and there is nobody to ask for the passphrase. Run it in a terminal, or use a key without one", path, name)
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

// sign makes the signature of a manifest in the form of ssh-keygen. That of an Ed25519 or RSA key is
// always the same.
func sign(manifest []byte, key ssh.Signer) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(manifest), key, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("the key %s cannot sign: %w", ssh.FingerprintSHA256(key.PublicKey()), err)
	}
	return sshsig.Armor(sig), nil
}

// Signature is a signature that holds: the key that made it has signed the hashes of all files.
type Signature struct {
	Fingerprint string // of the key: "SHA256:..."
	// Signer is whom a trusted key belongs to, or the file that it is in; empty if it is none of them.
	Signer string
}

// checkSignature looks at the signature of a manifest, if there is one, and for its key among those
// that are trusted.
func checkSignature(root *os.Root, found map[string]fileInfo, manifest []byte, trusted TrustedKeys) (*Signature, error) {
	info, ok := found[signatureFile]
	if !ok {
		return nil, nil
	}
	if info.size > maxKeys {
		return nil, fmt.Errorf("its %s has %d bytes: it is no signature", signatureFile, info.size)
	}
	raw, err := root.ReadFile(signatureFile)
	if err != nil {
		return nil, err
	}
	sig, err := sshsig.Unarmor(raw)
	if err != nil {
		return nil, fmt.Errorf("its %s is no signature of ssh: %w", signatureFile, err)
	}
	key := ssh.FingerprintSHA256(sig.PublicKey)
	if err := sshsig.Verify(bytes.NewReader(manifest), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return nil, fmt.Errorf("its %s, by the key %s, does not hold: %w. The archive was changed after it was signed, or the signature is of something else", signatureFile, key, err)
	}
	return &Signature{key, trusted.owner(sig.PublicKey)}, nil
}
