"""Certificates for the tests: an authority, what it signs, and connections that trust it."""
import http.client
import pathlib
import shutil
import ssl
import subprocess
import tempfile


class Pki:
    """An authority and what it signs, with openssl."""

    def __init__(self, folder):
        self.folder = folder
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=ca",
                  "-keyout", "ca.key", "-out", "ca.crt", "-days", "2")

    def _run(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=30)

    def sign(self, name, days=2, host="IP:127.0.0.1"):
        """Files of a certificate for that name and for that host; days=-1: it has expired."""
        self._run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                  "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (self.folder / "san").write_text(f"subjectAltName={host}\n")
        self._run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", str(days),
                  "-extfile", "san", "-out", f"{name}.crt")
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    @property
    def authority(self):
        return self.folder / "ca.crt"

    def connect(self, address, cert=None, key=None):
        """An HTTPS connection to HOST:PORT that trusts this authority, and shows a certificate if there is one."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if cert:
            context.load_cert_chain(cert, key)
        return http.client.HTTPSConnection(address, timeout=10, context=context)


class WithPki:
    """For a TestCase whose server has a certificate: `pki` and `certificate`, made once for all of its tests."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-pki-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.pki = Pki(folder)
        cls.certificate = cls.pki.sign("server")
