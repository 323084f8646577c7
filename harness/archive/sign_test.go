package archive

import (
	"archive/zip"
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
)

// newKey makes a key of a kind, in a file and its public part in another.
func newKey(t testing.TB, kind, passphrase string) (path string) {
	t.Helper()
	var key crypto.PrivateKey
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(key, "me@here")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "me@here", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "id_"+kind)
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	public := append(bytes.TrimSpace(ssh.MarshalAuthorizedKey(signer.PublicKey())), " me@here\n"...)
	if err := os.WriteFile(path+".pub", public, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readKey(t testing.TB, path string) ssh.Signer {
	t.Helper()
	key, err := ReadKey(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// file writes a file into a fresh folder.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func trust(t testing.TB, paths ...string) TrustedKeys {
	t.Helper()
	keys, err := ReadTrustedKeys(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// signed makes an archive that a key signs.
func signed(t testing.TB, key ssh.Signer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := Write(t.Context(), path, newStore(t), Package{Specs: someSpecs()}, right, key); err != nil {
		t.Fatal(err)
	}
	return path
}

// rezip copies an archive; edit changes the content of its files, nil drops one.
func rezip(t testing.TB, path string, edit func(name string, content []byte) []byte) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var entries []entry
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if content = edit(f.Name, content); content != nil {
			entries = append(entries, entry{name: f.Name, content: content})
		}
	}
	return file(t, "strange.zip", string(untrusted(t, false, entries...)))
}

func TestSignature(t *testing.T) {
	other := newKey(t, "ed25519", "")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			key := newKey(t, kind, "")
			path := signed(t, readKey(t, key))
			public, err := os.ReadFile(key + ".pub")
			if err != nil {
				t.Fatal(err)
			}
			allowed := file(t, "allowed_signers", "# who may\n\nyou@there,*@example.org namespaces=\"git,ss*\" "+string(public))
			for _, c := range []struct {
				trusted []string
				signer  string
			}{
				{nil, ""},
				{[]string{key + ".pub"}, "me@here"},
				{[]string{other + ".pub", allowed}, "you@there,*@example.org"},
			} {
				got, err := Extract(t.Context(), path, t.TempDir(), trust(t, c.trusted...))
				want := &Signature{ssh.FingerprintSHA256(readKey(t, key).PublicKey()), c.signer}
				if d := cmp.Diff(want, got.Signature); err != nil || d != "" {
					t.Errorf("%v: %v\n%s", c.trusted, err, d)
				}
			}
			_, err = Extract(t.Context(), path, t.TempDir(), trust(t, other+".pub"))
			wantError(t, err, "a.zip is refused", "signed by the key SHA256:", other+".pub")

			manifest := []byte("a manifest")
			one, err := sign(manifest, readKey(t, key))
			if err != nil {
				t.Fatal(err)
			}
			two, err := sign(manifest, readKey(t, key))
			if err != nil || kind != "ecdsa" && !bytes.Equal(one, two) {
				t.Errorf("two signatures of one manifest differ (%v)", err)
			}
		})
	}
}

// An archive that was changed after it was signed, or has the signature of another file, is refused, also
// without trusted keys.
func TestSignatureRefuses(t *testing.T) {
	key := newKey(t, "ed25519", "")
	good := signed(t, readKey(t, key))
	change := func(of string, f func([]byte) []byte) string {
		return rezip(t, good, func(name string, content []byte) []byte {
			if name == of {
				return f(content)
			}
			return content
		})
	}
	drop := func([]byte) []byte { return nil }
	var line string // of another archive by the same key
	another := rezip(t, signed(t, readKey(t, key)), func(name string, content []byte) []byte {
		if name == signatureFile {
			line = string(content)
		}
		return content
	})
	if _, err := Extract(t.Context(), another, t.TempDir(), trust(t, key+".pub")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		wants string
	}{
		"a table changed":       {change("tables/table1.csv", func(b []byte) []byte { return append(b, 'x') }), `"tables/table1.csv" is not the file`},
		"metadata changed":      {change(metadataFile, func(b []byte) []byte { return append(b, ' ') }), "its SHA256SUMS does not list its files: line"},
		"a hash changed":        {change(manifestFile, func(b []byte) []byte { b[0] ^= 1; return b }), "its SHA256SUMS does not list its files: line 1 is"},
		"a line more":           {change(manifestFile, func(b []byte) []byte { return append(b, '\n') }), "does not list its files"},
		"no manifest":           {change(manifestFile, drop), "a signature, but no SHA256SUMS"},
		"signature of another":  {change(signatureFile, func([]byte) []byte { return []byte(line) }), "is not valid"},
		"signature is text":     {change(signatureFile, func([]byte) []byte { return []byte("me") }), "is not an ssh signature"},
		"signature cut short":   {change(signatureFile, func(b []byte) []byte { return b[:len(b)/2] }), "is not an ssh signature"},
		"endless signature":     {change(signatureFile, func([]byte) []byte { return noise(maxKeys + 1) }), "it is not a signature"},
		"signature without end": {change(signatureFile, func(b []byte) []byte { return []byte(pemOf([]byte("SSHSIG"))) }), "is not an ssh signature"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, keys := range []TrustedKeys{{}, trust(t, key+".pub")} {
				_, err := Extract(t.Context(), c.path, t.TempDir(), keys)
				wantError(t, err, "strange.zip is refused", c.wants)
			}
		})
	}
	unsigned := change(signatureFile, drop)
	if got, err := Extract(t.Context(), unsigned, t.TempDir(), TrustedKeys{}); err != nil || got.Signature != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := Extract(t.Context(), unsigned, t.TempDir(), trust(t, key+".pub"))
	wantError(t, err, "is not signed", "Ask its author")
	earlier := rezip(t, good, func(name string, content []byte) []byte {
		if isSeal(name) {
			return nil
		}
		return content
	})
	if got, err := Extract(t.Context(), earlier, t.TempDir(), TrustedKeys{}); err != nil || got.Signature != nil {
		t.Errorf("an archive of an earlier version: %+v, %v", got, err)
	}
}

// noise is data that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func pemOf(b []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: b}))
}

func TestReadKey(t *testing.T) {
	key := newKey(t, "ed25519", "open sesame")
	say := func(phrase string, err error) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(phrase), err }
	}
	if got, err := ReadKey(key, say("open sesame", nil)); err != nil || got.PublicKey().Type() != ssh.KeyAlgoED25519 {
		t.Errorf("%v, %v", got, err)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	parsed, _, _, _, err := ssh.ParseAuthorizedKey(public)
	if err != nil {
		t.Fatal(err)
	}
	name := ssh.FingerprintSHA256(parsed)
	for _, c := range []struct {
		path  string
		ask   func() ([]byte, error)
		wants []string
	}{
		{key, nil, []string{key, name, "is encrypted"}},
		{key, say("no", nil), []string{key, name, "not the passphrase"}},
		{key, say("", errors.New("no terminal")), []string{key, name, "no terminal"}},
		{key + ".pub", nil, []string{key + ".pub is a public key", "name the private one"}},
		{file(t, "notes.txt", "hello"), nil, []string{"notes.txt is not a private key of ssh", "ssh-keygen"}},
		{filepath.Join(t.TempDir(), "none"), nil, []string{"none", "no such file"}},
		{"/dev/zero", nil, []string{"/dev/zero is not a file of keys"}},
		{file(t, "large", strings.Repeat("x", maxKeys+1)), nil, []string{"large has more than"}},
	} {
		_, err := ReadKey(c.path, c.ask)
		wantError(t, err, c.wants...)
	}
}

func TestTrustedKeys(t *testing.T) {
	key := newKey(t, "ed25519", "")
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.TrimSpace(string(public))
	at := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		plain:                                    "me@here",
		"a@b " + plain:                           "a@b",
		`"a@b" ` + plain:                         "a@b",
		"ssh-me " + plain:                        "ssh-me",
		`a@b namespaces="ssdl" ` + plain:         "a@b",
		`a@b namespaces="git" ` + plain:          "",
		`a@b namespaces="*,!ssdl" ` + plain:      "",
		"a@b valid-after=20261103Z " + plain:     "a@b",
		"a@b valid-after=202611031201Z " + plain: "",
		"a@b valid-before=20261103120001Z,namespaces=\"ss?l\" " + plain: "a@b",
		"a@b valid-before=20261103Z " + plain:                           "",
	} {
		got, usable, err := parseTrustedKey(line, at)
		if err != nil || usable != (want != "") || usable && got.owner != want {
			t.Errorf("%s: %q, %v, %v", line, got.owner, usable, err)
		}
	}
	for line, want := range map[string]string{
		"a@b cert-authority " + plain:        "certificates are not supported",
		"a@b verify-required=x " + plain:     `unknown option "verify-required=x"`,
		"a@b valid-after=yesterday " + plain: `"yesterday" is not a time`,
		"a@b ssh-ed25519 AAAA":               "not a public ssh key",
		"hello":                              "not a public ssh key",
	} {
		_, err := ReadTrustedKeys(key+".pub", file(t, "allowed", "# first\n"+line+"\n"))
		wantError(t, err, "allowed:2: ", want)
	}
	_, err = ReadTrustedKeys(file(t, "empty", "# nobody\n"))
	wantError(t, err, "empty has no public key")
	// A key that may not be used now is none that is trusted.
	path := signed(t, readKey(t, key))
	_, err = Extract(t.Context(), path, t.TempDir(), trust(t, file(t, "late", "a@b valid-before=20200101 "+plain)))
	wantError(t, err, "which is not a valid key of", "late")
}

// keygen runs ssh-keygen, or skips the test where it is not installed.
func keygen(t testing.TB, in []byte, args ...string) {
	t.Helper()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed: signatures are not compared with it")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = bytes.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %v: %v: %s", args, err, out)
	}
}

// ssh-keygen accepts our signatures and keys, and we accept those of ssh-keygen.
func TestSignatureAsOpenSSH(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			key := filepath.Join(dir, "key")
			keygen(t, nil, "-q", "-t", kind, "-N", "secret", "-C", "me", "-f", key)
			signer, err := ReadKey(key, func() ([]byte, error) { return []byte("secret"), nil })
			if err != nil {
				t.Fatal(err)
			}
			path := signed(t, signer)
			public, err := os.ReadFile(key + ".pub")
			if err != nil {
				t.Fatal(err)
			}
			allowed := file(t, "allowed_signers", "me@example.org "+string(public))
			unpacked := t.TempDir()
			got, err := Extract(t.Context(), path, unpacked, trust(t, allowed))
			if err != nil || got.Signature == nil || got.Signature.Signer != "me@example.org" {
				t.Fatalf("%+v, %v", got, err)
			}
			sums, err := os.ReadFile(filepath.Join(unpacked, manifestFile))
			if err != nil {
				t.Fatal(err)
			}
			keygen(t, sums, "-Y", "verify", "-f", allowed, "-I", "me@example.org", "-n", "ssdl", "-s", filepath.Join(unpacked, signatureFile))
			if program, err := exec.LookPath("sha256sum"); err == nil {
				cmd := exec.CommandContext(t.Context(), program, "--check", "--strict", "--quiet", manifestFile)
				cmd.Dir = unpacked
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("sha256sum: %v: %s", err, out)
				}
			}
			// The other way round: of the same manifest, and in another namespace.
			keygen(t, nil, "-q", "-p", "-P", "secret", "-N", "", "-f", key)
			for namespace, wants := range map[string]string{"ssdl": "", "file": "namespace"} {
				signatureOf := file(t, "sums", string(sums))
				keygen(t, nil, "-q", "-Y", "sign", "-f", key, "-n", namespace, signatureOf)
				theirs, err := os.ReadFile(signatureOf + ".sig")
				if err != nil {
					t.Fatal(err)
				}
				again := rezip(t, path, func(name string, content []byte) []byte {
					if name == signatureFile {
						return theirs
					}
					return content
				})
				_, err = Extract(t.Context(), again, t.TempDir(), trust(t, key+".pub"))
				if wants == "" && err != nil {
					t.Errorf("a signature of ssh-keygen: %v", err)
				}
				if wants != "" {
					wantError(t, err, "is not valid", wants)
				}
			}
		})
	}
}
