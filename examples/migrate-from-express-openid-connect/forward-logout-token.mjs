import express from "express";

const ownAddress = `http://localhost:${process.env.PORT ?? 3000}`;

/** Passes a logout token on to idpauth, and then to express-openid-connect. */
export const forwardLogoutToken = [
  express.urlencoded({ extended: false }),
  async (req, res, next) => {
    try {
      const body = new URLSearchParams({ logout_token: req.body?.logout_token ?? "" });
      const url = `${ownAddress}/idpauth/backchannel-logout`;
      const response = await fetch(url, { method: "POST", body });
      if (response.ok) next();
      else res.status(response.status).send(await response.text());
    } catch (error) {
      next(error);
    }
  },
];
